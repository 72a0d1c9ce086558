import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/cli/text-layout.js';
import { runFake } from './run-fake.js';

const ANSWERS = 'test/fixtures/answers';

/** Every command, as a user would type it, with what its JSON document must hold. */
const COMMANDS: readonly (readonly [string, readonly string[], string])[] = [
  ['submit', ['submit', '-t', 'a', '--wrong-answer', 'b', '--correction', 'c', '--lesson', 'd'], 'CREATED'],
  ['retrieve', ['retrieve', 'a query'], 'receipt-1'],
  ['prompt', ['prompt', '--base', 'Judge.', '--item', 'an item'], 'prior_corrections'],
  ['notes list', ['notes', 'list'], '"totalCount": 41'],
  ['notes show', ['notes', 'show', 'x'], 'wrongAnswer'],
  ['notes similar', ['notes', 'similar', 'x'], '0.87'],
  ['notes history', ['notes', 'history', 'x'], 'created'],
  ['review', ['review', 'x', '--decision', 'approve'], 'lesson'],
  ['queue list', ['queue', 'list', '--overdue', '--assignee', 'rita'], '"totalCount": 41'],
  ['queue assign', ['queue', 'assign', 'x', '--to', 'rita'], 'rita'],
  ['queue comment', ['queue', 'comment', 'x', '--text', 'a remark'], 'commented'],
  ['queue decide', ['queue', 'decide', 'x', 'y', '--decision', 'approve'], 'INVALID_TRANSITION'],
  ['queue metrics', ['queue', 'metrics', '--days', '7'], '"oldestDays": 9'],
  ['queue sweep-report', ['queue', 'sweep-report', 'job-1'], '"action": "EXPIRED"'],
  ['queue policy', ['queue', 'policy'], '"dueDays": 7'],
  ['queue policy --set', ['queue', 'policy', '--set', '{"dueDays":3}'], '"dueDays": 3'],
  ['report-anchor', ['report-anchor', '--kind', 'RULE', '--ref', 'x', '--state', '2'], '"matched": 2'],
  ['deprecate', ['deprecate', 'x', '--reason', 'old'], 'DEPRECATED'],
  ['restore', ['restore', 'x', '--reason', 'new'], 'ACTIVE'],
  ['deprecate-source', ['deprecate-source', '--author', 'kim', '--reason', 'left'], '"matched": 3'],
  ['notes effects', ['notes', 'effects'], '0.67'],
  ['notes versions', ['notes', 'versions', 'x'], 'impact'],
  ['notes restore-version', ['notes', 'restore-version', 'x', '--to', '1', '--reason', 'r'], 'lesson'],
  ['notes influence', ['notes', 'influence', 'x'], 'receipt-7'],
  ['models list', ['models', 'list'], 'all-MiniLM-L6-v2'],
  ['models pull', ['models', 'pull'], 'directory'],
  ['models switch', ['models', 'switch', 'e5-small-v2', '--detach'], 'job-1'],
  ['models rollback', ['models', 'rollback', '--detach'], 'job-1'],
  ['models verify', ['models', 'verify'], '"files": 3'],
  ['models bench', ['models', 'bench', 'm'], 'is better than late-interaction'],
  ['models remove', ['models', 'remove', 'x'], 'removed'],
  ['keys create', ['keys', 'create', 'ci', '--role', 'reader'], 'errata_secret_key_shown_once'],
  ['keys list', ['keys', 'list'], 'createdAt'],
  ['keys revoke', ['keys', 'revoke', 'ci'], 'revoked'],
  ['jobs start', ['jobs', 'start', 'BACKFILL', '--detach'], 'QUEUED'],
  ['jobs list', ['jobs', 'list'], 'job-1'],
  ['jobs show', ['jobs', 'show', 'job-1'], 'job-1'],
  ['jobs cancel', ['jobs', 'cancel', 'job-1'], 'CANCELLED'],
  ['jobs watch', ['jobs', 'watch', 'job-1'], 'SUCCEEDED'],
  ['evaluate', ['evaluate'], 'recall'],
  ['evaluate --namespace', ['evaluate', '-n', 'team-a', '--golden', '0123456789abcdef'], '"recall": 0.8'],
  ['golden check', ['golden', 'check', 'sample/golden.jsonl'], '"answerable"'],
  ['golden save', ['golden', 'save', 'sample/golden.jsonl'], '0123456789abcdef'],
  [
    'golden save --if-digest',
    ['golden', 'save', 'sample/golden.jsonl', '--if-digest', 'none'],
    '0123456789abcdef',
  ],
  ['golden remove', ['golden', 'remove', 'q-1', '-n', 'team-a'], '0123456789abcdef'],
  ['golden versions', ['golden', 'versions'], 'savedBy'],
  ['golden runs', ['golden', 'runs', '-n', 'team-a'], '"recallAt3": 0.75'],
  ['golden show', ['golden', 'show'], 'jsonl'],
  ['calibrate', ['calibrate', '--alpha', '0.1'], '"alpha": 0.05'],
  ['calibrate --show', ['calibrate', '--show'], '"pooled"'],
  ['calibrate --clear', ['calibrate', '--clear'], '"cleared": true'],
  [
    'answers compare',
    ['answers', 'compare', `${ANSWERS}/cases.jsonl`, `${ANSWERS}/before.jsonl`, `${ANSWERS}/after.jsonl`],
    '"verdict": "same"',
  ],
  ['answers ask', ['answers', 'ask', `${ANSWERS}/cases.jsonl`, '--instructions', 'Judge.'], '"casesDigest"'],
  ['sweep', ['sweep'], '"rows"'],
  ['sweep --namespace', ['sweep', '-n', 'team-a', '--only', 'stages'], '"rows"'],
  ['audit verify', ['audit', 'verify'], '"events": 4'],
  ['report', ['report', 'injection'], 'caught'],
  ['schema', ['schema'], 'type Query'],
];

describe.each(COMMANDS)('errata %s', (_name, argv, expected) => {
  it('prints one JSON document with --json, and exits 0', async () => {
    const { code, stdout, calls } = await runFake([...argv, '--json']);
    expect(code).toBe(0);
    expect(JSON.stringify(JSON.parse(stdout), undefined, 2)).toContain(expected);
    const opened = calls.filter(([name]) => name === 'openApp').length;
    expect(calls.filter(([name]) => name === 'close')).toHaveLength(opened);
  });

  it('fits 80 columns and has no colours where it is no terminal', async () => {
    const { code, stdout } = await runFake(argv);
    expect(code).toBe(0);
    expect(stdout.trim()).not.toBe('');
    expect(stdout).not.toContain('\u001b');
    for (const line of stdout.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  });

  it('refuses an unknown flag with code 2, as JSON with --json', async () => {
    const { code, stdout, calls } = await runFake([...argv, '--jsno', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error.code).toBe('INVALID_CONFIG');
    expect(JSON.parse(stdout).error.message).toContain('--json');
    expect(calls).toEqual([]);
  });
});
