import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/app/serve.js';
import type { RunningServer } from '../../src/cli/cli-deps.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { modelForTests } from '../models/installed-model.js';

const { missing } = await modelForTests();
const ADMIN_KEY = 'a-key-of-the-telemetry-tests-0123456789';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN = 'b7ad6b7169203331';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** Takes OTLP/HTTP in its JSON form, as a collector does. */
async function startCollector() {
  const exports: Export[] = [];
  const server = createServer((request, response) => {
    json(request).then((body) => {
      exports.push(body as Export);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans: () =>
      exports.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe.skipIf(missing !== undefined)('metrics and traces (need all-MiniLM-L6-v2)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'errata-telemetry-'));
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let server: RunningServer;

  const start = (flags: Record<string, string>): Promise<RunningServer> => {
    const common = { data: folder, port: '0', sample: 'false', 'admin-key': ADMIN_KEY };
    const config = parseConfig({ env: {}, flags: { ...common, ...flags } });
    return serve(config, { signal: new AbortController().signal });
  };
  const post = async (query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}`, ...headers },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as { data: Record<string, unknown>; errors?: unknown };
  };
  const scrape = async (key = ADMIN_KEY) => {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    };
  };
  const figureOf = (text: string, series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );

  beforeAll(async () => {
    collector = await startCollector();
    server = await start({ metrics: 'true', 'traces-url': collector.url, 'recall-share': '1' });
    const submit = (lesson: string) =>
      post(
        `mutation { submitCorrection(input: { taskType: "scan", wrongAnswer: "w ${lesson}", correction: "c ${lesson}", lesson: "${lesson}" }) { outcome } }`,
      );
    await submit('CVE-2021-44228 sits in log4j-core; log4j-api alone is not affected.');
    await submit('An unquoted path needs a service that runs with higher rights.');
  });
  afterAll(async () => {
    await server?.close();
    await collector?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('counts answers, stages, cache, recall and notes that nobody ever got', async () => {
    const retrieve = 'query { retrieve(input: { query: "CVE-2021-44228 in log4j-api" }) { id abstained } }';
    await scrape();
    expect((await post(retrieve)).errors).toBeUndefined();
    await post(retrieve);
    await post('query { retrieve(input: { query: "what is for lunch on a rainy day" }) { id } }');
    const { status, type, text } = await scrape();
    expect(status).toBe(200);
    expect(type).toContain('text/plain');
    expect(figureOf(text, 'errata_retrievals_total{outcome="answered",code=""}')).toBe(2);
    expect(figureOf(text, 'errata_retrievals_total{outcome="abstained",code=""}')).toBe(1);
    expect(figureOf(text, 'errata_retrieval_seconds_count')).toBe(3);
    expect(figureOf(text, 'errata_stage_seconds_count{stage="vector"}')).toBe(3);
    expect(figureOf(text, 'errata_query_cache_hits')).toBeGreaterThanOrEqual(1);
    expect(figureOf(text, 'errata_live_recall_count')).toBe(3);
    expect(figureOf(text, 'errata_live_recall_sum')).toBe(3);
    expect(figureOf(text, 'errata_indexed_notes')).toBe(2);
    expect(figureOf(text, 'errata_active_notes')).toBe(2);
    expect(figureOf(text, 'errata_never_used_notes')).toBeLessThanOrEqual(2);
    expect(text).not.toMatch(/log4j|lunch/);
  });

  it('counts queries that were longer than the model reads', async () => {
    const before = figureOf((await scrape()).text, 'errata_truncated_queries_total');
    const long = 'netty floods of requests in a desktop viewer '.repeat(80);
    const { data } = await post(`query { retrieve(input: { query: "${long}" }) { truncated } }`);
    expect(data.retrieve).toEqual({ truncated: true });
    await post('query { retrieve(input: { query: "a short one" }) { truncated } }');
    expect(figureOf((await scrape()).text, 'errata_truncated_queries_total')).toBe(before + 1);
  });

  it('shows figures only to keys for every namespace', async () => {
    const { data } = await post(
      'mutation { createApiKey(name: "team", roles: ["reader"], namespaces: ["team"]) }',
    );
    expect((await scrape(String(data.createApiKey))).status).toBe(403);
    expect((await scrape('no-such-key')).status).toBe(401);
  });

  it('sends a span an answer and one a stage, in the caller’s trace; nothing when it is off', async () => {
    await post('query { retrieve(input: { query: "log4j-api" }) { id } }', {
      traceparent: `00-${TRACE}-${CALLER_SPAN}-01`,
    });
    await server.close();
    const spans = collector.spans();
    const root = spans.find(({ name, traceId }) => name === 'errata.retrieve' && traceId === TRACE);
    expect(root?.parentSpanId).toBe(CALLER_SPAN);
    const stages = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    expect(stages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['errata.embed', 'errata.vector', 'errata.lexical', 'errata.receipt']),
    );
    for (const stage of stages) {
      expect(BigInt(stage.startTimeUnixNano)).toBeGreaterThanOrEqual(
        BigInt(root?.startTimeUnixNano ?? 0) - 1_000n,
      );
      expect(BigInt(stage.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(stage.startTimeUnixNano));
    }
    expect(JSON.stringify(spans)).not.toContain('log4j');

    const before = collector.spans().length;
    server = await start({});
    await post('query { retrieve(input: { query: "log4j-api" }) { id } }');
    expect((await scrape()).status).toBe(404);
    await server.close();
    expect(collector.spans()).toHaveLength(before);
  });
});
