#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/bitmap.hpp"
#include "common/held_guard.hpp"
#include "common/rw_lock.hpp"
#include "common/status.hpp"
#include "common/steady_map.hpp"
#include "index/cost_model.hpp"
#include "index/filter.hpp"
#include "index/graph.hpp"
#include "index/near_rows.hpp"
#include "index/partition_stats.hpp"
#include "index/save_point.hpp"
#include "index/scan.hpp"
#include "index/slot_set.hpp"
#include "index/slot_table.hpp"
#include "index/stop_signal.hpp"
#include "index/vector_store.hpp"

namespace errata {

class Snapshot;
class SnapshotWriter;
struct LateSection;
struct SectionView;

using Key = std::uint64_t;

/// Rows a key may own, one of each kind: 0 the lesson, 1 the situation.
constexpr std::size_t kRowKinds = 2;
/// Rows beyond the wanted ones that a graph search asks for, as far as its beam holds them, and that are
/// scored exactly: with codes the order of near ties is the codes', and 20 more made recall@10 equal the
/// float32 graph's on every data set of the bench.
constexpr std::size_t kRescoreRows = 20;

struct PartitionOptions {
  std::size_t dimensions = 0;
  GraphOptions graph;
  std::size_t ef_search = 64;
  /// Whether rows are also held as one byte an element, for first passes and the graph: a quarter more
  /// memory, a quarter of the reading. Answers are the same.
  bool codes = true;
  /// Rows from which a graph is built in the background; below half of it the graph is dropped again.
  std::size_t graph_threshold = 50'000;
  /// Threads that build it, at most Graph::kBuilders; 0: half of the cores. With one, the same rows give the
  /// same graph.
  std::size_t build_threads = 0;
  /// Threads that share a large scan; 0: one a core. Answers are the same whatever it is.
  std::size_t scan_threads = 1;
  /// From so many bytes on a snapshot's partition answers before it was verified whole: what a query touches
  /// is verified first, the rest in the background. 8 MB take a few milliseconds.
  std::size_t late_bytes = std::size_t{8} << 20;
  /// What the planner goes by; null: measured on this machine (calibrated_costs).
  const CostModel* costs = nullptr;
};

/// Keys to add or replace, column by column: key i owns rows `[row_begin[i], row_begin[i + 1])` of `vectors`
/// `[rows, dimensions]` and `kinds` `[rows]`, and tags `[tag_begin[i], tag_begin[i + 1])` of `tags`.
struct PutBatch {
  std::vector<Key> keys;
  std::vector<Order> orders;
  std::vector<std::uint32_t> row_begin;
  std::vector<std::uint8_t> kinds;
  std::vector<float> vectors;
  std::vector<std::uint32_t> tag_begin;
  std::vector<Tag> tags;
};

/// Left to the planner, unless someone wants to know what the other way would have cost.
enum class Way { kPlanned, kScan, kGraph };

struct Query {
  const float* vector = nullptr;  // [dimensions], unit length
  std::size_t k = 0;
  std::size_t ef = 0;  // 0: the partition's default
  Filter filter;       // none: all rows
  const StopSignal* stop = nullptr;
  /// kGraph holds where there is a graph and the allowed rows are more than a short list.
  Way way = Way::kPlanned;
};

struct Hit {
  Key key;
  float score;  // cosine, from float64 sums, rounded once, within [-1, 1]
  std::uint8_t kind;
};

/// What the planner weighed, and what came of it. Times in microseconds; an alternative that was not possible
/// has NaN.
struct PlanReport {
  double estimated_us = 0;  // of the plan that was chosen
  double took_us = 0;
  double scan_us = 0;
  double graph_us = 0;
  std::size_t allowed_rows = 0;
  std::size_t allowed_keys = 0;
  std::size_t ef = 0;      // beam of the graph search, where one ran
  std::size_t budget = 0;  // comparisons after which it was to give up; 0: none
  std::size_t threads = 1;
};

struct Answer {
  std::vector<Hit> hits;  // each key once, best first, ties by Order
  std::string plan;
  bool exhaustive = true;
  std::size_t compared = 0;  // first-pass comparisons
  std::size_t rescored = 0;  // rows whose exact score was taken
  PlanReport report;

  /// As new, but with the room that it has.
  void reset() {
    hits.clear();
    plan.clear();
    exhaustive = true;
    compared = rescored = 0;
    report = {};
  }
};

/// Whether a vector is finite and of unit length (norm within 1e-3 of 1); else INVALID_VECTOR naming `name`.
Status check_unit(const simd::Kernels& kernels, const float* vector, std::size_t n, const char* name);

/// Notes of one namespace and task type. Thread-safe: searches run beside each other; writers take the lock
/// in slices of half a millisecond, in which each key is replaced as a whole, so a search never sees half a
/// note.
class Partition {
 public:
  Partition(PartitionOptions options, const simd::Kernels& kernels);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  const PartitionOptions& options() const { return options_; }

  /// Validates everything, then adds or replaces. O(rows * dimensions), plus a graph insertion a row where
  /// there is a graph. INVALID_INPUT, INVALID_VECTOR: nothing was applied. OUT_OF_MEMORY, CLOSED: a prefix of
  /// the keys was.
  Status put(const PutBatch& batch);
  /// Removes; unknown keys are ignored. `removed` counts keys.
  Status remove(const Key* keys, std::size_t n, std::size_t& removed);
  Status search(const Query& query, Answer& answer) const;
  /// The same, for the event loop: empty when a writer holds the lock or the work is estimated above
  /// `limit_us`.
  std::optional<Status> try_search(const Query& query, double limit_us, Answer& answer) const;
  /// Several queries under the same filter in one pass over the rows: always exact. `queries`
  /// lie `dimensions` apart.
  Status search_batch(const float* queries, std::size_t count, const Query& shared,
                      std::vector<Answer>& answers) const;
  /// Exact score of each key's best row; NaN where the key is not held.
  Status scores_of(const float* query, const Key* keys, std::size_t n, double* scores) const;
  /// The same, for the event loop: empty when a writer holds the lock.
  std::optional<Status> try_scores_of(const float* query, const Key* keys, std::size_t n,
                                      double* scores) const;
  /// Copies of each key's rows, `[n, kRowKinds, dimensions]` in `rows`; NaN where a key or one of its kinds
  /// is not held.
  Status rows_of(const Key* keys, std::size_t n, float* rows) const;
  /// The same, for the event loop: empty when a writer holds the lock.
  std::optional<Status> try_rows_of(const Key* keys, std::size_t n, float* rows) const;
  /// Closes up freed slots where at least a quarter is free, and gives memory back: before it returns where
  /// there is no graph, else once a graph of the rows that are left was built in the background; until then
  /// the old one answers. Happens by itself from 1,024 free slots on. `freed` counts the slots.
  Status compact(std::size_t& freed);
  /// Searches the graph for every live row by its own vector, and repairs. Searches and writers go on
  /// meanwhile.
  Status audit(AuditReport& report);
  /// Holds on to what there is now, for `save`; searches and writers go on. Until `unpin` the background
  /// rests but for linking rows. QUEUE_FULL while it is at work, which `stops_background` ends instead (until
  /// the next write), and while another save is under way.
  Status pin(bool stops_background);
  /// The first step of a save. Until it ends writers leave the graph's links alone, and what they write is
  /// compared beside it: 0.2 s at a million rows.
  Status copy_links();
  /// Writes what was pinned as partition `number` of a snapshot.
  Status save(SnapshotWriter& writer, std::uint32_t number) const;
  void unpin();
  /// Takes a partition of a snapshot over; only into an empty partition, which is left empty where it fails
  /// (CORRUPT_RECORD). Large sections stay in the mapped file, which is kept mapped. A partition of
  /// `late_bytes` and more answers at once, by scans; the background makes it writable, verifies it and loads
  /// the graph. Filtered searches and writers wait for the first of these (about a microsecond a row). Where
  /// the file turns out not to be sound, every later call is refused with CORRUPT_RECORD.
  Status restore(const std::shared_ptr<Snapshot>& snapshot, std::uint32_t number);
  /// Waits until what was restored is verified whole; CORRUPT_RECORD where it is not sound.
  Status verified();
  bool verifying() const { return verifying_.load(); }
  PartitionStats stats() const;
  /// Waits until the background has nothing to do.
  void settle();
  /// Whether `settle()` would wait.
  bool busy() const { return tending_.load(); }
  /// Refuses further work and stops the background. Searches in flight end as usual.
  void close();

 private:
  static constexpr Slot kNoSlot = 0xffff'ffff;
  struct KeyEntry {
    Slot slots[kRowKinds] = {kNoSlot, kNoSlot};
    std::vector<Tag> tags;
  };
  /// The rows that a query may find: all live ones, or those of a set that stays alive with this.
  struct Allowed {
    const Bitmap* bitmap = nullptr;  // or, where they are few:
    const std::vector<Slot>* list = nullptr;
    std::shared_ptr<const SlotSet> cached;
    bool filtered = false;
    std::size_t rows = 0;
    std::size_t keys = 0;
  };
  struct Plan {
    bool graph = false;
    GraphSearch search;  // beam, budget and what it needs to give up early
    PlanReport report;
  };
  using Candidate = NearRow;

  Status check_batch(const PutBatch& batch) const;
  Status check_query(const Query& query) const;
  Status closed_status() const;
  Status broken_status() const;
  Status ended(const StopSignal* stop) const;
  /// Before the lock: not OK where the partition is broken; waits for keys and tags where they are `needed`.
  Status ready(bool needed) const;
  /// For writers: open, sound, and keys and tags are there.
  Status writable() const;

  // All below need the lock: shared for const ones, exclusive for the others.
  std::size_t key_count() const { return indexing_.load() ? restored_keys_ : keys_.size(); }
  Allowed allow(const Filter& filter) const;
  std::size_t beam(const Query& query, bool filtered) const;
  bool time_searches(const Graph& graph, const std::vector<Slot>& slots, const Bitmap* allowed,
                     double& node_us, double& nodes_per_beam) const;
  Plan plan(const Query& query, const Allowed& allowed) const;
  std::size_t rows_wanted(const Allowed& allowed, std::size_t k) const;
  Status run(const Query& query, const Allowed& allowed, Plan plan, Answer& answer) const;
  /// Offers the words' rows to `near`, one element a query, on `threads` threads. False where `stop` ended
  /// it.
  template <typename Scan>
  bool scan_parts(std::size_t words, std::size_t threads, std::vector<NearRows>& near, Scan scan) const;
  std::size_t scan_threads(double us) const;
  Status run_graph(const Query& query, const Allowed& allowed, const ScanQuery& scanned, std::size_t k,
                   Plan& plan, Answer& answer) const;
  ScanSource source() const;
  bool rank(const float* query, std::vector<NearRow>& near, double margin, std::size_t wanted, std::size_t k,
            Answer& answer) const;
  static_assert(kRowKinds == 2, "take_best_rows looks at the one other row");
  bool add_kept_aside(const Query& query, const ScanQuery& scanned, std::size_t wanted, GraphSearch& search,
                      Answer& answer) const;
  void take_best_rows(const float* query, Answer& answer) const;
  float score(const float* query, Slot slot) const;
  Status score_keys(const float* query, const Key* keys, std::size_t n, double* scores) const;
  Status copy_rows(const Key* keys, std::size_t n, float* rows) const;
  bool better(const Candidate& a, const Candidate& b) const;
  bool room_ready() const;
  Status put_one(const PutBatch& batch, std::size_t index);
  bool remove_one(Key key);
  Status write_row(Slot slot, Key key, Order order, std::uint8_t kind, const float* vector);
  void free_row(Slot slot);
  void count_churn() {
    ++churn_;
    wear_ += 2;
  }
  void tag_rows(const KeyEntry& entry, bool add);
  std::size_t tombstones() const { return info_.size() - live_rows_; }
  Slot lowest_free();
  bool compact_slice();
  void truncate(std::size_t end);
  std::size_t live_end() const;
  void drop_small_graph();
  void drop_graph();
  void link_later(Slot slot);
  bool link_next();
  bool finds(const Graph& graph, Slot slot, std::size_t beam = 0) const;
  bool keep_unreachable(const std::unique_ptr<Graph>& graph, std::vector<Slot>& slots,
                        const std::atomic<bool>& stop) const;
  Status release_reachable(const std::atomic<bool>& stop);

  enum class Task { kNone, kRestore, kFree, kLink, kCompact, kBuild, kAudit };
  Task due() const;
  void keep_chunks(const KeyEntry& entry);
  void copy_slots(std::size_t chunk, SavePoint::Slots& to) const;
  template <typename Clear>
  Status save_chunks(SnapshotWriter& writer, const BlockStore& blocks,
                     std::vector<std::byte> SavePoint::Chunk::*part, std::size_t& done, Clear clear) const;
  Status save_slots(SnapshotWriter& writer, std::uint32_t number) const;
  struct Restored;  // what of a snapshot is still to be taken over
  Status take_sections(const std::shared_ptr<Snapshot>& snapshot, std::uint32_t number, Restored& restored);
  Status take_aside(const Snapshot& snapshot, std::uint32_t number, Restored& restored) const;
  Status index_rows(const Restored& restored);
  Status load_graph(const Restored& restored, std::unique_ptr<Graph>& graph) const;
  void forget_rows();

  // Writer side; these need `writers_`, not the lock.
  void maintain();
  void stop_tending();
  // The background thread, which takes the lock itself.
  void tend();
  void compact_rows();
  void finish_restore();
  void end_head_start() const;
  bool verify_blocks(const BlockStore& blocks) const;
  void build(std::unique_ptr<Graph> loaded, std::vector<Slot> lost = {});
  void measure_costs(const Graph& graph, CostModel& costs, GraphCosts& graph_costs) const;
  bool few_left(const Graph& graph) const;
  bool link_rows(Graph& graph);
  bool link_dirty(Graph& graph);
  template <typename Work>
  void on_build_threads(std::size_t items, Work work) const;
  bool prove(Graph& graph, std::vector<Slot>& lost, bool& promising);
  bool find_lost(const Graph& graph, std::vector<Slot>& lost) const;
  Status audit_rows(AuditReport& report, const std::atomic<bool>& stop);
  Status audit_pass(std::size_t pass, std::size_t& lost, AuditReport& report, const std::atomic<bool>& stop);
  void settle_row(Slot slot, bool may_link, AuditReport& report);

  const PartitionOptions options_;
  const simd::Kernels& kernels_;

  mutable RwLock lock_;
  std::mutex writers_;  // one put, remove or compact at a time; taken before lock_
  std::atomic<bool> closed_{false};

  RowStore rows_;
  std::unique_ptr<CodeStore> codes_;
  double code_error_ = 0;  // longest loss of any row's codes so far
  SlotTable info_;
  Bitmap live_;
  Bitmap primary_;  // one row of each key, for counting keys among allowed rows
  std::size_t live_rows_ = 0;
  std::size_t free_word_ = 0;  // no slot is free in the words of `live_` before it
  SteadyMap<Key, KeyEntry> keys_;
  TagSets tags_;
  mutable FilterCache filters_;

  CostModel costs_;
  std::unique_ptr<Graph> graph_;
  GraphCosts graph_costs_;
  std::size_t churn_ = 0;  // rows removed or replaced since the graph was built
  std::size_t wear_ = 0;   // since the last audit: rows added, and twice those removed or replaced
  bool audit_due_ = false;
  bool compaction_wanted_ = false;
  std::vector<Slot> kept_aside_;  // sorted; live rows that the graph does not find
  std::vector<Slot> unlinked_;    // of them, those that were written while links were copied for a save
  bool links_rest_ = false;       // they are being copied
  std::unique_ptr<SavePoint> save_;
  Graph* growing_ = nullptr;  // the graph that is being built
  std::vector<Slot> dirty_;   // its slots that were rewritten meanwhile
  std::size_t compactions_ = 0, audits_ = 0, repairs_ = 0;
  std::vector<std::shared_ptr<void>> garbage_;  // what the background is to free, without the lock
  mutable LongestHold longest_hold_;

  std::shared_ptr<Restored> restored_;
  std::size_t restored_keys_ = 0;
  std::size_t restored_slots_ = 0;     // that the graph to be loaded knows; 0: none
  std::atomic<bool> indexing_{false};  // keys and tags are not there yet; ends under the lock
  mutable std::atomic<bool> broken_{false};
  mutable std::mutex restoring_mutex_;
  mutable std::condition_variable restoring_;
  std::atomic<bool> verifying_{false};
  /// Whether the background of a restored partition need no longer leave the cores to the first search.
  mutable std::atomic<bool> head_start_over_{true};

  std::thread tender_;
  std::mutex audits_mutex_;  // one audit at a time
  std::atomic<bool> tending_{false};
  std::atomic<bool> stop_tender_{false};
  std::mutex settled_mutex_;
  std::condition_variable settled_;
};

}  // namespace errata
