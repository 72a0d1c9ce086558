// Longer than a file should be: every port answers from the same maps and counts its calls, so that its parts cannot stand apart.
import type { Caller } from '../../../src/domain/api-key.js';
import type { AuditEvent } from '../../../src/domain/audit.js';
import { ErrataError } from '../../../src/domain/errors.js';
import type { Job } from '../../../src/domain/job.js';
import type { FeedbackNote, NoteStatus } from '../../../src/domain/note.js';
import type { Retrieval, ScoredNote } from '../../../src/domain/retrieval.js';
import { DEFAULT_REVIEW_POLICY } from '../../../src/domain/review.js';
import { cosine } from '../../../src/domain/scores.js';
import type { SavedGoldenSet } from '../../../src/ports/evaluations.js';
import type { NamespaceScope, NoteFilter, Page, PageRequest } from '../../../src/ports/note-store.js';
import type { CorrectionInput, SubmitResult, UseCases } from '../../../src/ports/use-cases.js';
import { LiveFeed } from './live-feed.js';
import { sampleAnswerRun, sampleSweep } from './sample-evaluations.js';
import { noteId, sampleCalibration, sampleEvents, sampleNote } from './sample-notes.js';

export const KEYS: Readonly<Record<string, Caller>> = {
  'reader-key': { name: 'reader', roles: ['reader'] },
  'reviewer-key': { name: 'reviewer', roles: ['reviewer'] },
  'admin-key': { name: 'admin', roles: ['admin'] },
  'team-reader-key': { name: 'team-reader', roles: ['reader'], namespaces: ['team'] },
  'team-reviewer-key': { name: 'team-reviewer', roles: ['reviewer'], namespaces: ['team'] },
  'team-admin-key': { name: 'team-admin', roles: ['admin'], namespaces: ['team'] },
  'no-role-key': { name: 'nobody', roles: [] },
};

const inScope = (scope: NamespaceScope, namespace: string | undefined): boolean =>
  scope === 'all' || (namespace !== undefined && scope.includes(namespace));

/** Pages by position; a keyset is the item's index and id. */
function pageOf<T extends { id: string }>(items: readonly T[], request: PageRequest): Page<T> {
  const from =
    request.after === undefined ? 0 : items.findIndex(({ id }) => id === request.after?.at(-1)) + 1;
  const beforeAt =
    request.before === undefined ? -1 : items.findIndex(({ id }) => id === request.before?.at(-1));
  const to = beforeAt === -1 ? items.length : beforeAt;
  const window = items.slice(from, to);
  const page = request.backwards === true ? window.slice(-request.limit) : window.slice(0, request.limit);
  const start = page[0] === undefined ? from : items.indexOf(page[0]);
  return {
    items: page,
    keysets: page.map((item) => [items.indexOf(item), item.id]),
    hasPrevious: start > 0,
    hasNext: start + page.length < items.length,
  };
}

/**
 * Stands in for the application behind the ports: keeps notes in memory and counts every call by name, so that tests can
 * see what a request cost. It validates little; the real use cases are tested elsewhere.
 */
export class InMemoryUseCases implements UseCases {
  readonly calls = new Map<string, number>();
  readonly store = new Map<string, FeedbackNote>();
  readonly events: AuditEvent[] = [];
  readonly jobStore = new Map<string, Job>();
  readonly feeds = new Set<LiveFeed<FeedbackNote>>();
  readonly progressFeeds = new Set<LiveFeed<Job>>();
  readonly receipts = new Map<string, Retrieval>();
  readonly revoked = new Set<string>();
  readonly goldenSets = new Map<string, SavedGoldenSet>();
  readonly submitted: CorrectionInput[] = [];
  /** What the next call of the name throws or waits for. */
  readonly interventions = new Map<string, (signal?: AbortSignal) => unknown>();
  lastSignal: AbortSignal | undefined;
  notReady: Error | undefined;

  add(...notes: readonly FeedbackNote[]): this {
    for (const note of notes) {
      this.store.set(note.id, note);
      this.events.push(...sampleEvents(note, 3));
    }
    return this;
  }

  /** Calls by name since the last look. */
  takeCalls(): Record<string, number> {
    const calls = Object.fromEntries([...this.calls].sort());
    this.calls.clear();
    return calls;
  }

  private async call(name: string, signal?: AbortSignal): Promise<void> {
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    await this.interventions.get(name)?.(signal);
  }

  private select(scope: NamespaceScope, filter: NoteFilter): FeedbackNote[] {
    return [...this.store.values()].filter(
      (note) =>
        inScope(scope, note.namespace) &&
        (filter.statuses?.includes(note.status) ?? true) &&
        (filter.taskTypes?.includes(note.taskType) ?? true) &&
        (filter.text === undefined || note.lesson.includes(filter.text)),
    );
  }

  private selectEvents(scope: NamespaceScope, filter: { noteId?: string; actor?: string }): AuditEvent[] {
    return this.events.filter(
      (event) =>
        (scope === 'all' || inScope(scope, event.namespace)) &&
        (filter.noteId === undefined || event.noteId === filter.noteId) &&
        (filter.actor === undefined || event.actor === filter.actor),
    );
  }

  private require(namespace: string, id: string): FeedbackNote {
    const note = this.store.get(id);
    if (note?.namespace !== namespace) {
      throw new ErrataError('NOTE_NOT_FOUND', 'Expected a known note for id, received another id');
    }
    return note;
  }

  private change(namespace: string, ids: readonly string[], status: NoteStatus): FeedbackNote[] {
    return ids
      .map((id) => this.require(namespace, id))
      .map((note) => {
        const changed = { ...note, status, version: note.version + 1 };
        this.store.set(note.id, changed);
        for (const feed of this.feeds) feed.push(changed);
        return changed;
      });
  }

  private judge(input: CorrectionInput): SubmitResult {
    this.submitted.push(input);
    if (input.lesson.trim() === '') {
      return {
        outcome: 'REFUSED',
        findings: [{ rule: 'validation.empty', field: 'lesson', reason: 'Expected text' }],
      };
    }
    const note = sampleNote(1_000 + this.store.size, {
      namespace: input.namespace ?? 'default',
      lesson: input.lesson,
    });
    this.add(note);
    return { outcome: 'CREATED', note, findings: [] };
  }

  private answer(namespace: string): Retrieval {
    const scored = [...this.store.values()]
      .filter((note) => note.namespace === namespace && note.status === 'ACTIVE')
      .slice(0, 20)
      .map(
        (note, index): ScoredNote => ({
          note,
          score: 0.9 - index / 100,
          vectorScore: cosine(0.9),
          vectorRank: index + 1,
        }),
      );
    const retrieval: Retrieval = {
      id: `receipt-${this.receipts.size + 1}`,
      namespace,
      notes: scored.slice(0, 3),
      candidates: scored,
      abstained: scored.length === 0,
      threshold: 0.5,
      scoreScale: 'cosine',
      degraded: ['rerank: not configured'],
      plan: 'scan',
      exhaustive: true,
      indexRevision: '7',
      embeddingModel: 'double',
      truncated: false,
      stages: [{ name: 'embed', ms: 0.1 }],
      createdAt: '2026-02-01T00:00:00.000Z',
    };
    if (this.receipts.size < 1_000) this.receipts.set(retrieval.id, retrieval);
    return retrieval;
  }

  readonly commands: UseCases['commands'] = {
    submit: async (_caller, input) => {
      await this.call('submit');
      const result = this.judge(input);
      if (result.outcome === 'REFUSED')
        throw new ErrataError('INVALID_TEXT', 'Expected text for lesson, received none');
      return result;
    },
    submitMany: async (_caller, inputs) => {
      await this.call('submitMany');
      return inputs.map((input) => this.judge(input));
    },
    review: async (_caller, { id, namespace, decision }) => {
      await this.call('review');
      const [note] = this.change(namespace, [id], decision === 'REJECT' ? 'DEPRECATED' : 'ACTIVE');
      return note!;
    },
    deprecate: async (_caller, namespace, ids) => {
      await this.call('deprecate');
      return this.change(namespace, ids, 'DEPRECATED');
    },
    restore: async (_caller, namespace, ids) => {
      await this.call('restore');
      return this.change(namespace, ids, 'ACTIVE');
    },
    restoreVersion: async (_caller, namespace, id) => {
      await this.call('restoreVersion');
      return this.require(namespace, id);
    },
    deprecateBySource: async (_caller, { dryRun, namespace, source }) => {
      await this.call('deprecateBySource');
      const matched = [...this.store.values()].filter(
        (note) => note.namespace === namespace && note.sources.some(({ author }) => author === source.author),
      );
      const deprecated = dryRun ? 0 : matched.length;
      return {
        dryRun,
        matched: matched.length,
        deprecated,
        noteIds: matched.map(({ id }) => id),
        answers: 0,
      };
    },
    recordOutcome: async () => {
      await this.call('recordOutcome');
      return true;
    },
    recordAnswer: async () => {
      await this.call('recordAnswer');
      return true;
    },
    erase: async (_caller, namespace, id) => {
      await this.call('erase');
      const erased = { ...this.require(namespace, id), wrongAnswer: '', correction: '', lesson: '' };
      this.store.set(id, erased);
      return erased;
    },
  };

  readonly review: UseCases['review'] = {
    policy: async () => DEFAULT_REVIEW_POLICY,
    setPolicy: async (_caller, _namespace, policy) => ({ ...DEFAULT_REVIEW_POLICY, ...(policy as object) }),
    assign: async (_caller, namespace, id) => this.require(namespace, id),
    comment: async (_caller, namespace, id) => void this.require(namespace, id),
    decideMany: async (_caller, { namespace, ids }) =>
      ids.map((id) => ({ id, note: this.require(namespace, id) })),
    metrics: async (scope) => ({
      pending: this.select(scope, { statuses: ['PENDING'] }).length,
      quarantined: this.select(scope, { statuses: ['QUARANTINED'] }).length,
      ...{ overdue: 0, escalated: 0, unassigned: 0, decisions: [], truncated: false },
    }),
    reportAnchor: async (_caller, { dryRun }) => ({
      ...{ matched: 0, changed: [], demoted: [] },
      dryRun: dryRun === true,
    }),
    sweepNote: async () => undefined,
    swept: async () => ({ EXPIRED: 0, REVIEW_DUE: 0, ESCALATED: 0, GIVEN_UP: 0 }),
    undoSweep: async () => 0,
    keepDryRun: async () => undefined,
    sweepReport: async (_scope, run) => ({ ...{ run, dryRun: true, entries: [], hasMore: false } }),
  };

  readonly notes: UseCases['notes'] = {
    get: async (namespace, id) => {
      await this.call('get');
      const note = this.store.get(id);
      return note?.namespace === namespace ? note : undefined;
    },
    getMany: async (namespace, ids) => {
      await this.call('getMany');
      return ids.flatMap((id) => {
        const note = this.store.get(id);
        return note?.namespace === namespace ? [note] : [];
      });
    },
    list: async (scope, filter, _order, page) => {
      await this.call('list');
      return pageOf(this.select(scope, filter), page);
    },
    count: async (scope, filter) => {
      await this.call('count');
      return this.select(scope, filter).length;
    },
    versions: async (namespace, id) => {
      await this.call('versions');
      return [{ note: this.require(namespace, id), action: 'created', actor: 'ada', changes: [] }];
    },
    effects: async () => {
      await this.call('effects');
      const none = { count: 0, total: 0, rate: 0, low: 0, high: 1 };
      const all = { served: none, withheld: none, effect: { difference: 0, low: -1, high: 1 } };
      return { all, notes: [], truncated: false };
    },
    influence: async ({ noteIds }) => {
      await this.call('influence');
      return { notes: noteIds?.length ?? 0, answers: 0, callers: [], newest: [], truncated: false };
    },
    similar: async (namespace, id, first) => {
      await this.call('similar');
      this.require(namespace, id);
      return this.answer(namespace)
        .candidates.filter(({ note }) => note.id !== id)
        .slice(0, first);
    },
    audit: async (scope, filter, page) => {
      await this.call('audit');
      return pageOf(this.selectEvents(scope, filter), page);
    },
    auditCount: async (scope, filter) => {
      await this.call('auditCount');
      return this.selectEvents(scope, filter).length;
    },
    histories: async (scope, ids, first) => {
      await this.call('histories');
      return new Map(
        ids.map((id) => {
          const events = this.selectEvents(scope, { noteId: id });
          const page = pageOf(events, { limit: first });
          return [
            id,
            { items: page.items, keysets: page.keysets, hasNext: page.hasNext, total: events.length },
          ];
        }),
      );
    },
  };

  readonly retrieval: UseCases['retrieval'] = {
    retrieve: async (_caller, request, options) => {
      this.lastSignal = options?.signal;
      await this.call('retrieve', options?.signal);
      if (request.query.trim() === '')
        throw new ErrataError('INVALID_TEXT', 'Expected text for query, received none');
      return this.answer(request.namespace ?? 'default');
    },
    buildPrompt: async (_caller, request) => {
      await this.call('buildPrompt');
      const retrieval = this.answer(request.retrieve.namespace ?? 'default');
      const included = retrieval.notes.map(({ note }) => note);
      return { prompt: request.item, context: '', contextTokens: 0, included, omitted: [], retrieval };
    },
    receipt: async (scope, id) => {
      await this.call('receipt');
      const receipt = this.receipts.get(id);
      return receipt !== undefined && inScope(scope, receipt.namespace) ? receipt : undefined;
    },
  };

  readonly jobs: UseCases['jobs'] = {
    start: async (_caller, kind, namespace, options) => {
      await this.call('startJob');
      const job: Job = {
        id: `job-${this.jobStore.size + 1}`,
        kind,
        namespace,
        options,
        state: 'QUEUED',
        done: 0,
        createdAt: '2026-02-01T00:00:00.000Z',
        cancelRequested: false,
        fence: 0,
      };
      this.jobStore.set(job.id, job);
      return job;
    },
    cancel: async (_caller, id) => {
      await this.call('cancelJob');
      const job: Job = { ...this.jobStore.get(id)!, state: 'CANCELLED' };
      this.jobStore.set(id, job);
      return job;
    },
    get: async (id) => {
      await this.call('job');
      return this.jobStore.get(id);
    },
    list: async (scope, limit) => {
      await this.call('jobs');
      const seen = [...this.jobStore.values()].filter(
        ({ namespace }) => scope === 'all' || (namespace !== undefined && scope.includes(namespace)),
      );
      return seen.reverse().slice(0, limit);
    },
    progress: (id) => {
      const feed: LiveFeed<Job> = new LiveFeed(() => this.progressFeeds.delete(feed));
      this.progressFeeds.add(feed);
      feed.push(this.jobStore.get(id)!);
      return feed;
    },
  };

  readonly keys: UseCases['keys'] = {
    create: async (_caller, name) => {
      await this.call('createKey');
      return `key-of-${name}`;
    },
    revoke: async () => {
      await this.call('revokeKey');
      return true;
    },
    list: async () =>
      Object.values(KEYS).map((caller) => ({ ...caller, createdAt: '2026-01-01T00:00:00.000Z' })),
    authenticate: async (key) => (this.revoked.has(key) ? undefined : KEYS[key]),
  };

  readonly feed: UseCases['feed'] = {
    changes: () => {
      const feed: LiveFeed<FeedbackNote> = new LiveFeed(() => this.feeds.delete(feed));
      this.feeds.add(feed);
      return feed;
    },
  };

  readonly evaluations: UseCases['evaluations'] = {
    runs: async (namespace, first) => {
      await this.call('runs');
      const metrics = { queries: 2, recallAt3: 0.5 };
      const run = {
        id: 'run-1',
        namespace,
        createdAt: '2026-02-01T00:00:00.000Z',
        goldenDigest: '0123456789abcdef',
        embeddingModel: 'double',
        scoreScale: 'cosine',
        threshold: 0.5,
        queries: 2,
        medianMs: 1,
        p95Ms: 2,
        all: metrics,
        tune: metrics,
        test: metrics,
        intervals: [{ name: 'recallAt3', estimate: 0.5, low: 0.4, high: 0.6 }],
        groups: [{ grouping: 'language', value: 'en', metrics }],
      };
      return [run].slice(0, first);
    },
    cases: async () => {
      await this.call('cases');
      const measures = { recallAt3: 1 };
      return [
        { id: 'q1', half: 'test', taskType: 'any', expected: [noteId(1)], answered: [noteId(1)], measures },
      ];
    },
    compareRuns: async () => {
      await this.call('compareRuns');
      const change = {
        name: 'mrr',
        pairs: 1,
        before: 1,
        after: 0.5,
        low: -0.5,
        high: -0.5,
        pValue: 1,
        detectable: 1,
      };
      return { half: 'test', sameGoldenSet: true, measures: [change], changes: [], unpaired: ['q2'] };
    },
    goldenSet: async (namespace) => {
      await this.call('goldenSet');
      return this.goldenSets.get(namespace);
    },
    goldenText: async () => '',
    saveGoldenSet: async (caller, namespace) => {
      await this.call('saveGoldenSet');
      return this.saveGolden(caller, namespace);
    },
    removeGoldenQuery: async (caller, namespace) => {
      await this.call('removeGoldenQuery');
      return this.saveGolden(caller, namespace);
    },
    sweeps: async (namespace) => {
      await this.call('sweeps');
      return [sampleSweep(namespace)];
    },
    answerRuns: async (namespace) => {
      await this.call('answerRuns');
      return [sampleAnswerRun(namespace)];
    },
    answerCases: async (namespace) => {
      await this.call('answerCases');
      return { namespace, digest: '0123456789abcdef', cases: 2, positives: 1, askable: 2 };
    },
    saveAnswerCases: async (_caller, namespace) => {
      await this.call('saveAnswerCases');
      return { namespace, digest: '0123456789abcdef', cases: 2, positives: 1, askable: 2 };
    },
    compareAnswers: async (_caller, namespace) => {
      await this.call('compareAnswers');
      return sampleAnswerRun(namespace);
    },
    calibrations: async (namespace) => {
      await this.call('calibrations');
      return [sampleCalibration(namespace)];
    },
    calibrate: async (_caller, { namespace }) => [sampleCalibration(namespace ?? 'default')],
    clearCalibrations: async () => {
      await this.call('clearCalibrations');
      return true;
    },
    addGoldenQuery: async (caller, input) => {
      await this.call('addGoldenQuery');
      return this.saveGolden(caller, input.namespace ?? 'default');
    },
  };

  private saveGolden(caller: Caller, namespace: string): SavedGoldenSet {
    const version = {
      digest: '0123456789abcdef',
      queries: 1,
      savedAt: '2026-02-01T00:00:00.000Z',
      savedBy: caller.name,
    };
    const saved = { ...version, namespace, answerable: 1, versions: [version] };
    this.goldenSets.set(namespace, saved);
    return saved;
  }

  async stats(scope: NamespaceScope): ReturnType<UseCases['stats']> {
    await this.call('stats');
    const notes = this.select(scope, {});
    const count = (taskType: string, status: NoteStatus): number =>
      notes.filter((note) => note.taskType === taskType && note.status === status).length;
    return {
      notes: notes.length,
      byTaskType: [...new Set(notes.map((note) => note.taskType))].map((taskType) => ({
        namespace: 'default',
        taskType,
        active: count(taskType, 'ACTIVE'),
        pending: count(taskType, 'PENDING'),
        deprecated: count(taskType, 'DEPRECATED'),
        quarantined: count(taskType, 'QUARANTINED'),
      })),
      indexedVectors: notes.length,
      embeddingModel: 'double',
      store: 'memory',
      truncatedTexts: 0,
      uptimeSeconds: 1,
      models: [
        {
          role: 'EMBEDDING',
          id: 'openai:double',
          usage: { requests: 7, retries: 2, failures: 1, billedUnits: 3e9 },
        },
        {
          role: 'RERANKING',
          id: 'double-reranker',
          runtime: {
            provider: 'cuda',
            refused: [],
            sessions: 1,
            threadsPerSession: 1,
            layout: 'CONFIGURED',
            batches: 'PADDED',
            graphRemembered: false,
          },
        },
      ],
      vectorIndex: {
        partitions: 2,
        notes: notes.length,
        vectors: 3,
        tombstones: 1,
        memoryBytes: 6_000_000_000,
        memory: { vectors: 4e9, codes: 1e9, graphs: 5e8, filters: 3e8, bookkeeping: 2e8 },
        graphs: 1,
        isa: 'scalar',
      },
    };
  }

  async ready(): Promise<void> {
    if (this.notReady !== undefined) throw this.notReady;
  }
}

/** Notes that replace each other, wait, and belong to another tenant: what most tests need. */
export function populatedUseCases(size = 60): InMemoryUseCases {
  const useCases = new InMemoryUseCases();
  const replaced = (index: number): Partial<FeedbackNote> => ({
    ...(index >= 2 && { supersedes: [noteId(index - 2), noteId(index - 1)] }),
    ...(index + 1 < size && { supersededBy: noteId(index + 1) }),
  });
  useCases.add(...Array.from({ length: size }, (_, index) => sampleNote(index, replaced(index))));
  useCases.add(
    sampleNote(500, { status: 'PENDING', mergeCandidate: { noteId: noteId(1), similarity: 0.93 } }),
    sampleNote(501, { status: 'QUARANTINED' }),
    sampleNote(900, { namespace: 'team' }),
    sampleNote(901, { namespace: 'team' }),
  );
  return useCases;
}
