// An installation without store, model and index, for what the command line itself does: forms of output, exit codes, signals.
// Plain JavaScript, so that child processes can run it against dist.

/** `at` makes ids that sort; texts hold what terminals and pipes must survive. */
export function fakeNote(at = 1, changes = {}) {
  return {
    id: String(at).padStart(64, '0'),
    namespace: 'default',
    taskType: 'code-review',
    wrongAnswer: 'Reported a leak.',
    correction: 'The pool closes it.',
    lesson: `Lesson ${at}: connections of the pool are closed by the pool itself, so a missing close() is no leak.`,
    attributes: { language: 'java' },
    impact: 'NORMAL',
    status: 'ACTIVE',
    sources: [{ kind: 'review', author: 'kim' }],
    supportCount: 1,
    findings: [],
    createdAt: '2026-01-02T03:04:05.000Z',
    updatedAt: '2026-01-02T03:04:05.000Z',
    supersedes: [],
    version: 1,
    outcomes: { retrieved: 0, helpful: 0, harmful: 0, ignored: 0 },
    ...changes,
  };
}

export function fakeRetrieval(notes) {
  const scored = notes.map((note, at) => ({ note, score: 0.9 - at / 10 }));
  return {
    id: 'receipt-1',
    namespace: 'default',
    notes: scored,
    candidates: scored,
    abstained: scored.length === 0,
    threshold: 0.3,
    scoreScale: 'cosine',
    degraded: ['rerank: not configured'],
    plan: 'scan',
    exhaustive: true,
    indexRevision: '7',
    embeddingModel: 'fake@0',
    truncated: false,
    stages: [{ name: 'embed', ms: 1.5 }],
    createdAt: '2026-01-02T03:04:05.000Z',
  };
}

/** Resolves never, rejects when the signal fires: work that only an interrupt ends. */
export function untilAborted(signal) {
  return new Promise((_, reject) => {
    const keepAlive = setInterval(() => undefined, 1_000);
    signal.addEventListener('abort', () => {
      clearInterval(keepAlive);
      reject(signal.reason);
    });
  });
}

const fakeReview = {
  cause: 'impact',
  openedAt: '2026-01-02T03:04:05.000Z',
  dueAt: '2026-01-09T03:04:05.000Z',
  required: 2,
  byOthers: true,
  submittedBy: 'kim',
  assignee: 'rita',
  approvals: [],
  escalations: 1,
};

/** `calls` records what was asked for; `answers` replaces parts of the use cases. */
export function fakeDeps(answers = {}) {
  const calls = [];
  const record =
    (name, answer) =>
    async (...args) => {
      calls.push([name, ...args]);
      return answers[name] === undefined ? answer : answers[name](...args);
    };
  const useCases = {
    commands: {
      submit: record('submit', { outcome: 'CREATED', note: fakeNote(), findings: [] }),
      submitMany: record('submitMany', [
        { outcome: 'CREATED', note: fakeNote(), findings: [] },
        {
          outcome: 'REFUSED',
          findings: [{ rule: 'text.empty', field: 'lesson', reason: 'Expected a text' }],
        },
      ]),
      review: record('review', fakeNote()),
      deprecate: record('deprecate', [fakeNote(1, { status: 'DEPRECATED' })]),
      restore: record('restore', [fakeNote()]),
      restoreVersion: record('restoreVersion', fakeNote()),
      deprecateBySource: record('deprecateBySource', {
        dryRun: true,
        matched: 3,
        deprecated: 0,
        noteIds: [],
        answers: 12,
      }),
    },
    review: {
      policy: record('policy', { dueDays: 7 }),
      setPolicy: record('setPolicy', { dueDays: 3 }),
      assign: record('assign', fakeNote(1, { status: 'PENDING', review: fakeReview })),
      comment: record('comment', undefined),
      decideMany: record('decideMany', [
        { id: fakeNote().id, note: fakeNote() },
        { id: fakeNote(2).id, refused: 'INVALID_TRANSITION' },
      ]),
      metrics: record('metrics', {
        pending: 3,
        quarantined: 1,
        overdue: 1,
        escalated: 0,
        unassigned: 2,
        oldestDays: 9,
        decisions: [{ reviewer: 'rita', decisions: 5 }],
        truncated: false,
      }),
      sweepReport: record('sweepReport', {
        run: 'job-1',
        dryRun: true,
        entries: [{ namespace: 'default', noteId: 'x', action: 'EXPIRED', reason: 'expired' }],
        hasMore: true,
      }),
      reportAnchor: record('reportAnchor', { matched: 2, changed: ['x'], demoted: ['x'], dryRun: false }),
    },
    notes: {
      get: record('get', fakeNote()),
      list: record('list', {
        items: [fakeNote()],
        keysets: [['2026', 'a']],
        hasNext: true,
        hasPrevious: false,
      }),
      count: record('count', 41),
      versions: record('versions', [
        { note: fakeNote(), action: 'updated', actor: 'kim', changes: [{ field: 'impact', after: 'HIGH' }] },
      ]),
      effects: record('effects', {
        all: {
          served: { count: 9, total: 10, rate: 0.9, low: 0.6, high: 0.98 },
          withheld: { count: 5, total: 10, rate: 0.5, low: 0.24, high: 0.76 },
          effect: { difference: 0.4, low: -0.01, high: 0.67 },
        },
        notes: [],
        truncated: false,
      }),
      influence: record('influence', {
        notes: 1,
        answers: 2,
        callers: [{ caller: 'ci', answers: 2 }],
        newest: [{ receiptId: 'receipt-7', at: '2026-01-02T03:04:05.000Z', caller: 'ci', noteIds: ['x'] }],
        truncated: false,
      }),
      similar: record('similar', [{ note: fakeNote(2), score: 0.87 }]),
      audit: record('audit', {
        items: [
          {
            id: '1:1',
            at: '2026-01-02T03:04:05.000Z',
            actor: 'kim',
            action: 'created',
            changes: ['status: ACTIVE'],
          },
        ],
        keysets: [['x']],
        hasNext: false,
        hasPrevious: false,
      }),
    },
    retrieval: {
      retrieve: record('retrieve', fakeRetrieval([fakeNote(1), fakeNote(2)])),
      buildPrompt: record('buildPrompt', {
        prompt: 'BASE\n<prior_corrections>\n</prior_corrections>\nITEM',
        context: '',
        contextTokens: 12,
        included: [fakeNote()],
        omitted: [],
        retrieval: fakeRetrieval([fakeNote()]),
      }),
    },
    keys: {
      create: record('createKey', 'errata_secret_key_shown_once'),
      revoke: record('revokeKey', true),
      list: record('listKeys', [{ name: 'ci', roles: ['reader'], createdAt: '2026-01-02T03:04:05.000Z' }]),
    },
    jobs: {
      start: record('startJob', fakeJob('QUEUED')),
      get: record('getJob', fakeJob('RUNNING')),
      list: record('listJobs', [fakeJob('RUNNING')]),
      cancel: record('cancelJob', fakeJob('CANCELLED')),
      async *progress() {
        yield* (answers.jobStates ?? ['RUNNING', 'SUCCEEDED']).map(fakeJob);
      },
    },
    evaluations: {
      runs: record('runs', [
        {
          id: '0f0e0d0c-1111-4222-8333-444455556666',
          createdAt: '2026-01-02T03:04:05.000Z',
          goldenDigest: '0123456789abcdef',
          test: { recallAt3: 0.75, mrr: 0.5 },
        },
      ]),
      saveGoldenSet: record('saveGoldenSet', fakeGoldenSet),
      removeGoldenQuery: record('removeGoldenQuery', fakeGoldenSet),
      goldenSet: record('goldenSet', fakeGoldenSet),
      calibrations: record('calibrations', [fakeCalibration]),
      calibrate: record('calibrate', [fakeCalibration]),
      clearCalibrations: record('clearCalibrations', true),
      goldenText: record('goldenText', '{"id":"q1","query":"a","expected":[]}\n'),
    },
  };
  const opened = {
    useCases,
    importFile: record('importFile', {
      file: 'notes.csv',
      format: 'csv',
      encoding: 'utf-8',
      rows: [
        { row: 1, outcome: 'CREATED', noteId: fakeNote().id },
        { row: 2, outcome: 'REFUSED', reason: 'Expected a text for lesson, received none' },
      ],
    }),
    exportNotes: answers.exportNotes ?? (() => exportedLines(3)),
    askChecker: record('askChecker', {
      before: [{ id: 'a', flagged: true, notes: [] }],
      after: [{ id: 'a', flagged: false, notes: ['n1'] }],
      spending: { calls: 2, promptTokens: 100, completionTokens: 10, cost: 0.001 },
    }),
    evaluateNamespace: record('evaluateNamespace', { report: { recall: 0.8 }, text: 'recall@3 0.800' }),
    sweepNamespace: record('sweepNamespace', { report: { rows: [] }, lines: ['nDCG@10'], documents: {} }),
    verifyAudit: record('verifyAudit', {
      links: 3,
      events: 4,
      head: { number: 3, hash: 'a'.repeat(64) },
      problems: [],
      problemCount: 0,
      unsealed: [],
    }),
    diagnostics: answers.diagnostics ?? (() => fakeDiagnostics()),
    close: record('close'),
  };
  const deps = {
    version: '0.0.0-fake',
    openApp: record('openApp', opened),
    serve: record('serve', {
      url: 'http://127.0.0.1:4000',
      newAdminKey: 'admin-key-made-at-first-start',
      firstStart: true,
      sample: { namespace: 'sample', notes: 228 },
      notes: 228,
      storeDescription: 'sqlite 3.50',
      embeddingModel: 'fake@0',
      close: record('closeServer'),
    }),
    models: {
      list: record('listModels', [
        { name: 'all-MiniLM-L6-v2', kind: 'embedding', installed: true, dimensions: 384 },
      ]),
      pull: record('pull', { name: 'all-MiniLM-L6-v2', directory: '/models/x', source: 'installed' }),
      verify: record('verify', { files: 3 }),
      remove: record('remove', true),
    },
    guardReport: record('guardReport', { report: { caught: 0.9 }, text: 'caught 0.900' }),
    benchModel: record('benchModel', {
      name: 'm',
      speed: [
        {
          provider: 'cpu',
          precision: 'int8',
          loadMs: 310,
          unit: 'query',
          p50Ms: 1.5,
          p95Ms: 2,
          textsPerSecond: 350,
        },
      ],
      quality: {
        baseline: 'late-interaction',
        queries: 213,
        measures: [
          { title: 'nDCG@10', before: 0.91, after: 0.93, pValue: 0.01 },
          { title: 'AUC', before: 0.8, after: 0.9 },
        ],
        queryMs: { before: 6, after: 40 },
        verdict: 'm is better than late-interaction: nDCG@10 0.910 → 0.930, p = 0.010',
      },
    }),
    evaluate: record('evaluate', { report: { recall: 0.9 }, text: 'recall@3 0.900' }),
    sweep: record('sweep', { report: { rows: [] }, lines: ['nDCG@10'], documents: {} }),
    emitSchema: record('emitSchema', 'type Query {\n  ok: Boolean\n}\n'),
    loadAddon:
      answers.loadAddon ??
      (() => ({ file: '/x/errata_native.node', isa: 'avx2', availableIsas: ['avx2', 'scalar'] })),
  };
  return { deps, calls };
}

const fakeGoldenVersion = {
  digest: '0123456789abcdef',
  queries: 1,
  savedAt: '2026-01-02T03:04:05.000Z',
  savedBy: 'kim',
};
const fakeGoldenSet = {
  ...fakeGoldenVersion,
  namespace: 'default',
  answerable: 0,
  versions: [fakeGoldenVersion],
};

const fakeShare = { count: 1, total: 20, rate: 0.05, low: 0.01, high: 0.24 };
const fakeFigures = { wronglyInjected: fakeShare, answered: fakeShare, recall: 0.5 };
const fakeCalibration = {
  namespace: 'default',
  embeddingModel: 'fake@0',
  rerankModel: null,
  scoreScale: 'cosine',
  scoreFit: null,
  alpha: 0.05,
  goldenDigest: '0123456789abcdef',
  createdAt: '2026-01-02T03:04:05.000Z',
  createdBy: 'kim',
  pooled: { value: 0.5, queries: 19, passed: 0 },
  byTaskType: {},
  mapping: { bias: -1, slope: 2 },
  heldOut: {
    after: fakeFigures,
    before: fakeFigures,
    ceiling: fakeFigures,
    byTaskType: { 'code-review': fakeFigures },
    brier: { mapped: 0.1, baseRate: 0.2, notes: 40 },
  },
};

function fakeJob(state) {
  return {
    id: 'job-1',
    kind: 'BACKFILL',
    options: {},
    state,
    done: 5,
    total: 10,
    createdAt: '2026-01-02T03:04:05.000Z',
    cancelRequested: false,
    fence: 1,
  };
}

export async function* exportedLines(count) {
  for (let at = 1; at <= count; at += 1) yield `${JSON.stringify(fakeNote(at))}\n`;
}

export function fakeDiagnostics({ active = 3, held = 3, corrupt = 0 } = {}) {
  const vector = new Float32Array(384);
  vector[0] = 1;
  return {
    storeDescription: 'sqlite 3.50',
    notes: {
      count: async () => active,
      corruptRecords: () => corrupt,
      lastRevision: async () => 2,
      changesSince: async () => ({
        changes: [
          { revision: 1, noteIds: [] },
          { revision: 2, noteIds: [] },
        ],
        pruned: false,
      }),
    },
    retrieval: {
      vectorIndex: { count: () => held, stats: () => ({ isa: 'avx2', partitions: 1, memoryBytes: 1_000 }) },
      lexicalIndex: { count: () => held, search: async () => [] },
      embedder: {
        model: { id: 'fake@0', name: 'fake', dimensions: 384, maxTokens: 256 },
        embed: async () => [{ vector, tokens: 3, truncated: false }],
      },
    },
  };
}
