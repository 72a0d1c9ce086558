import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { RetrievalWatcher } from '../../ports/telemetry.js';

export interface Traces extends RetrievalWatcher {
  /** Runs what handles a request, so that its spans belong to the caller's trace (`traceparent`). */
  within(headers: Readonly<Record<string, string | string[] | undefined>>, work: () => void): void;
  /** Sends what is waiting. */
  close(): Promise<void>;
}

/**
 * Sends a span an answer and one a stage to an OTLP/HTTP collector, in batches. Stages run one after the other, so their spans follow from
 * the times in the answer. Attributes hold ids, counts and plans, never texts or attributes of notes.
 */
export function createOtlpTraces(options: { readonly url: string; readonly version: string }): Traces {
  const exporter = new OTLPTraceExporter({ url: options.url });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'errata', 'service.version': options.version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('errata', options.version);
  const propagator = new W3CTraceContextPropagator();
  const requests = new AsyncLocalStorage<Context>();
  const parent = (): Context => requests.getStore() ?? ROOT_CONTEXT;
  return {
    within(headers, work) {
      const getter = {
        keys: () => Object.keys(headers),
        get: (_carrier: unknown, key: string) => headers[key.toLowerCase()],
      };
      requests.run(propagator.extract(ROOT_CONTEXT, headers, getter), work);
    },
    answered({ retrieval, taskType, startedMs, tookMs }) {
      const span = tracer.startSpan(
        'errata.retrieve',
        {
          kind: SpanKind.SERVER,
          startTime: startedMs,
          attributes: {
            'errata.receipt': retrieval.id,
            'errata.namespace': retrieval.namespace,
            ...(taskType === undefined ? {} : { 'errata.task_type': taskType }),
            'errata.candidates': retrieval.candidates.length,
            'errata.notes': retrieval.notes.length,
            'errata.abstained': retrieval.abstained,
            'errata.truncated': retrieval.truncated,
            'errata.plan': retrieval.plan,
            'errata.embedding_model': retrieval.embeddingModel,
            ...(retrieval.rerankModel === undefined ? {} : { 'errata.rerank_model': retrieval.rerankModel }),
            ...(retrieval.degraded.length === 0 ? {} : { 'errata.degraded': [...retrieval.degraded] }),
          },
        },
        parent(),
      );
      const within = trace.setSpan(ROOT_CONTEXT, span);
      let at = startedMs;
      for (const { name, ms, detail } of retrieval.stages) {
        const attributes = detail === undefined ? {} : { 'errata.detail': detail };
        tracer.startSpan(`errata.${name}`, { startTime: at, attributes }, within).end(at + ms);
        at += ms;
      }
      span.end(startedMs + tookMs);
    },
    failed({ code, startedMs, tookMs }) {
      const span = tracer.startSpan(
        'errata.retrieve',
        { kind: SpanKind.SERVER, startTime: startedMs, attributes: { 'error.type': code } },
        parent(),
      );
      span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      span.end(startedMs + tookMs);
    },
    liveRecall: () => undefined,
    close: () => provider.shutdown(),
  };
}
