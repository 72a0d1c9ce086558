import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // Read by tests only, which know what they have sent.
  readonly body: Record<string, unknown>;
}

/** An answer: a status with headers, a body, or silence. */
export type Behaviour =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly raw: string }
  | 'silence'
  /** The connection closed without an answer. */
  | 'break'
  /** The first half of the answer, then the connection closed. */
  | 'cut'
  /** The same, then silence. */
  | 'stall'
  /** The right answer, so much later. */
  | { readonly delayMs: number }
  /** What the service would answer, changed. */
  | { readonly change: (answer: Record<string, unknown>) => unknown }
  | 'well';

const DIMENSIONS = 4;

/** A text's vector: anything that tells texts apart. */
export function numbersOf(text: string): number[] {
  return Array.from({ length: DIMENSIONS }, (_, d) => ((text.charCodeAt(0) || 1) % (7 + d)) + 1);
}

/** A passage's chance: its length, so that tests know the order. */
export const chanceOf = (passage: string): number => Math.min(0.99, passage.length / 100);

function answerFor({ path, body }: Received): Record<string, unknown> {
  const texts = (body.input ?? body.texts ?? body.documents) as string[];
  if (path.endsWith('/embed'))
    return { embeddings: { float: texts.map(numbersOf) }, meta: { billed_units: { input_tokens: 7 } } };
  if (path.endsWith('/embeddings')) {
    const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: numbersOf(text) }));
    return { object: 'list', data, usage: { prompt_tokens: 5, total_tokens: 5 } };
  }
  const rows = texts.map((text, index) => ({ index, relevance_score: chanceOf(text) }));
  // Services answer best first.
  rows.sort((a, b) => b.relevance_score - a.relevance_score);
  if (body.top_k !== undefined) return { object: 'list', data: rows, usage: { total_tokens: 9 } };
  return body.return_documents === false
    ? { results: rows, usage: { total_tokens: 9 } }
    : { results: rows, meta: { billed_units: { search_units: 1 } } };
}

/** A server that follows the published shapes, and misbehaves as it is told, request by request. */
export class MisbehavingServer {
  readonly received: Received[] = [];
  /** Taken one a request; afterwards it behaves. */
  readonly behaviours: Behaviour[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<MisbehavingServer> {
    const server = createServer();
    const made = new MisbehavingServer(server);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const received: Received = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      };
      made.received.push(received);
      made.#answer(response, received, made.behaviours.shift() ?? 'well');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return made;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(response: ServerResponse, received: Received, behaviour: Behaviour): void {
    if (behaviour === 'silence') return;
    if (behaviour === 'break') response.destroy();
    else if (behaviour === 'well') response.end(JSON.stringify(answerFor(received)));
    else if (behaviour === 'cut' || behaviour === 'stall') {
      const whole = JSON.stringify(answerFor(received));
      response.writeHead(200, { 'content-length': String(Buffer.byteLength(whole)) });
      response.write(whole.slice(0, whole.length / 2), () => {
        if (behaviour === 'cut') response.destroy();
      });
    } else if ('delayMs' in behaviour)
      setTimeout(() => response.end(JSON.stringify(answerFor(received))), behaviour.delayMs);
    else if ('status' in behaviour)
      response.writeHead(behaviour.status, behaviour.headers).end('{"error":"details"}');
    else if ('raw' in behaviour) response.end(behaviour.raw);
    else response.end(JSON.stringify(behaviour.change(answerFor(received))));
  }
}
