import type { Behaviour } from '../adapters/hosted/misbehaving-server.js';
import { type HostedShape, withRows, withValues } from './hosted-model.contract.js';

/** Of `HostedClientOptions`. */
export interface Attempts {
  readonly backoffMs: number;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly deadlineMs?: number;
  readonly maxAttempts?: number;
  readonly breakerFailures?: number;
  readonly breakerPauseMs?: number;
}

/** What happens to requests in turn; undefined where a shape has no such thing. */
type Misbehaviour = (shape: HostedShape, baseUrl: string) => readonly Behaviour[] | undefined;

interface Recovery {
  readonly what: string;
  readonly of: (shape: HostedShape) => readonly Behaviour[] | undefined;
  readonly attempts?: Partial<Attempts>;
  readonly requests: number;
  readonly leastMs?: number;
}

interface Failure {
  readonly what: string;
  readonly of: Misbehaviour;
  readonly code: string | Readonly<Record<'vectors' | 'scores', string>>;
  readonly message?: RegExp;
  readonly attempts?: Partial<Attempts>;
  readonly requests: number;
}

const times = (count: number, behaviour: Behaviour): readonly Behaviour[] => Array(count).fill(behaviour);
const indexed = (shape: HostedShape, behaviour: Behaviour) =>
  shape.valueAt === undefined ? undefined : [behaviour];
const withIndexes = (shape: HostedShape, of: (index: number) => unknown) =>
  indexed(
    shape,
    withRows(shape, (rows) => rows.map((row, at) => ({ ...(row as object), index: of(at) }))),
  );
const vectorsOnly = (shape: HostedShape, behaviour: Behaviour) =>
  shape.gives === 'vectors' ? [behaviour] : undefined;

/** JSON has no NaN; Python's json module writes it all the same. */
const BARE_NAN: Behaviour = { raw: '{"data": [{"index": 0, "embedding": [NaN], "relevance_score": NaN}]}' };
const PAGE: Behaviour = { raw: '<html><body>Bad gateway, details below</body></html>' };
const PASSING_STATUSES = [408, 409, 425, 429, 500, 502, 503, 504, 529];
const FINAL_STATUSES = [400, 401, 402, 403, 404, 413, 422, 501];
const REDIRECTS = [301, 302, 303, 307, 308];
const inSeconds = (ms: number) => new Date(Date.now() + ms).toUTCString();

/** What passes: the answer afterwards is right, and no more was asked than needed. */
export const RECOVERIES: readonly Recovery[] = [
  { what: 'well', of: () => ['well'], requests: 1 },
  { what: 'slow, but in time', of: () => [{ delayMs: 120 }], requests: 1, leastMs: 115 },
  ...PASSING_STATUSES.map((status) => ({ what: `${status} once`, of: () => [{ status }], requests: 2 })),
  {
    what: '429 with Retry-After in seconds',
    of: () => [{ status: 429, headers: { 'retry-after': '0.2' } }],
    requests: 2,
    leastMs: 195,
  },
  {
    what: '503 with Retry-After as a date',
    // Dates of HTTP have whole seconds: at least a half is left of these one and a half.
    of: () => [{ status: 503, headers: { 'retry-after': inSeconds(1_500) } }],
    requests: 2,
    leastMs: 300,
  },
  {
    what: '429 with a Retry-After that is over or means nothing',
    of: () => [
      { status: 429, headers: { 'retry-after': inSeconds(-60_000) } },
      { status: 429, headers: { 'retry-after': 'soon' } },
    ],
    requests: 3,
  },
  { what: 'silent once', of: () => ['silence'], attempts: { timeoutMs: 1_000 }, requests: 2, leastMs: 990 },
  { what: 'stuck in an answer once', of: () => ['stall'], attempts: { timeoutMs: 1_000 }, requests: 2 },
  { what: 'the connection closed', of: () => ['break'], requests: 2 },
  { what: 'the connection closed within an answer', of: () => ['cut'], requests: 2 },
  { what: 'JSON that ends too early', of: () => [{ raw: '{"data": [' }], requests: 2 },
  { what: 'an empty answer', of: () => [{ raw: '' }], requests: 2 },
  { what: 'a page instead of JSON', of: () => [PAGE], requests: 2 },
  { what: 'NaN, which is no JSON', of: () => [BARE_NAN], requests: 2 },
  { what: 'three things in a row', of: () => ['break', { status: 500 }, PAGE], requests: 4 },
  {
    what: 'rows in another order',
    of: (shape) =>
      indexed(
        shape,
        withRows(shape, (rows) => rows.toReversed()),
      ),
    requests: 1,
  },
  {
    what: 'fields that are not known',
    of: () => [{ change: (answer) => ({ ...answer, id: 'x', warnings: ['details'] }) }],
    requests: 1,
  },
];

const final = (what: string, of: Misbehaviour, code: Failure['code'] = 'MODEL_UNAVAILABLE'): Failure => ({
  what,
  of,
  code,
  requests: 1,
});
const NO_NUMBER = { vectors: 'INVALID_VECTOR', scores: 'MODEL_UNAVAILABLE' } as const;

/** What does not pass. */
export const FAILURES: readonly Failure[] = [
  {
    what: 'silent',
    of: () => times(2, 'silence'),
    attempts: { timeoutMs: 100, maxAttempts: 2 },
    code: 'TIMED_OUT',
    message: /no answer within 100 ms/,
    requests: 2,
  },
  {
    what: 'stuck in every answer',
    of: () => times(2, 'stall'),
    attempts: { timeoutMs: 100, maxAttempts: 2 },
    code: 'TIMED_OUT',
    requests: 2,
  },
  {
    what: 'slower than a call may take',
    of: () => [{ delayMs: 2_000 }],
    attempts: { deadlineMs: 150 },
    code: 'TIMED_OUT',
    requests: 1,
  },
  ...[429, 500, 503].map((status) => ({
    what: `${status} every time`,
    of: () => times(4, { status }),
    code: 'MODEL_UNAVAILABLE',
    message: new RegExp(`received HTTP ${status}$`),
    requests: 4,
  })),
  {
    what: '429 with a Retry-After beyond what a call may take',
    of: () => [{ status: 429, headers: { 'retry-after': '60' } }],
    code: 'MODEL_UNAVAILABLE',
    message: /received HTTP 429$/,
    requests: 1,
  },
  ...FINAL_STATUSES.map((status) => ({
    ...final(`${status}, which does not pass`, () => [{ status }]),
    message: new RegExp(`received HTTP ${status}$`),
  })),
  ...REDIRECTS.map((status) => ({
    ...final(`${status}, which is not followed`, (_, baseUrl) => [
      { status, headers: { location: `${baseUrl}/elsewhere` } },
    ]),
    message: new RegExp(`received HTTP ${status}$`),
  })),
  {
    what: 'the connection closed every time',
    of: () => times(4, 'break'),
    code: 'MODEL_UNAVAILABLE',
    message: /broken connection/,
    requests: 4,
  },
  {
    what: 'the connection closed within every answer',
    of: () => times(4, 'cut'),
    code: 'MODEL_UNAVAILABLE',
    requests: 4,
  },
  {
    what: 'JSON that ends too early every time',
    of: () => times(4, { raw: '{"data": [' }),
    code: 'MODEL_UNAVAILABLE',
    message: /something else than JSON/,
    requests: 4,
  },
  { what: 'NaN every time', of: () => times(4, BARE_NAN), code: 'MODEL_UNAVAILABLE', requests: 4 },
  final('a short list', (shape) => [withRows(shape, (rows) => rows.slice(1))]),
  final('an empty list', (shape) => [withRows(shape, () => [])]),
  final('a long list', (shape) => [withRows(shape, (rows) => [...rows, rows[0]])]),
  final('one row more, with an index of its own', (shape) =>
    indexed(
      shape,
      withRows(shape, (rows) => [...rows, { ...(rows[0] as object), index: rows.length }]),
    ),
  ),
  final('an index twice', (shape) => withIndexes(shape, () => 0)),
  final('an index that was not asked', (shape) => withIndexes(shape, (index) => index + 1)),
  final('a negative index', (shape) => withIndexes(shape, (index) => -index)),
  final('half an index', (shape) => withIndexes(shape, (index) => index / 2)),
  final('indexes as texts', (shape) => withIndexes(shape, String)),
  final(
    'null for a number',
    (shape) => [withValues(shape, (value) => (Array.isArray(value) ? [null, ...value.slice(1)] : null))],
    NO_NUMBER,
  ),
  final(
    'null for one row’s numbers only',
    (shape) => [
      withValues(shape, (value, row) =>
        row === 0 ? value : Array.isArray(value) ? value.map(() => null) : null,
      ),
    ],
    NO_NUMBER,
  ),
  final('no value', (shape) => [withValues(shape, () => undefined)]),
  final('texts for numbers', (shape) => [
    withValues(shape, (value) => (Array.isArray(value) ? value.map(String) : 'high')),
  ]),
  final('base64 for a vector', (shape) =>
    vectorsOnly(
      shape,
      withValues(shape, () => 'AAAA'),
    ),
  ),
  final(
    'fewer dimensions',
    (shape) =>
      vectorsOnly(
        shape,
        withValues(shape, (value) => (value as number[]).slice(1)),
      ),
    'INVALID_VECTOR',
  ),
  final(
    'more dimensions',
    (shape) =>
      vectorsOnly(
        shape,
        withValues(shape, (value) => [...(value as number[]), 1]),
      ),
    'INVALID_VECTOR',
  ),
  final(
    'no dimensions in one row',
    (shape) =>
      vectorsOnly(
        shape,
        withValues(shape, (value, row) => (row === 0 ? value : [])),
      ),
    'INVALID_VECTOR',
  ),
  final(
    'only zeros',
    (shape) =>
      vectorsOnly(
        shape,
        withValues(shape, (value) => (value as number[]).map(() => 0)),
      ),
    'INVALID_VECTOR',
  ),
  final(
    'numbers beyond float32',
    (shape) =>
      vectorsOnly(
        shape,
        withValues(shape, (value) => (value as number[]).map(() => 1e300)),
      ),
    'INVALID_VECTOR',
  ),
  final('null', () => [{ raw: 'null' }]),
  final('a list', () => [{ raw: '[]' }]),
  final('an error with status 200', () => [{ raw: '{"error": {"message": "details of alpha"}}' }]),
];

/** While which a caller stops waiting. */
export const STOPS: readonly { readonly what: string; readonly behaviour: Behaviour }[] = [
  { what: 'while nothing is answered', behaviour: 'silence' },
  { what: 'within an answer', behaviour: 'stall' },
  {
    what: 'while a Retry-After is waited for',
    behaviour: { status: 429, headers: { 'retry-after': '20' } },
  },
];
