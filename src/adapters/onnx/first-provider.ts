import type { ExecutionProvider } from '../../domain/inference.js';

/** An execution provider that was wished for and cannot be had here. */
export interface RefusedProvider {
  readonly provider: ExecutionProvider;
  readonly reason: string;
}

/** ONNX Runtime's texts run over several lines and name places of its build. */
const MAX_REASON_CHARS = 200;

/**
 * Opens with the first of the providers that can, in their order; says why the ones before could not.
 *
 * Errors: a plain one with every reason where none can.
 */
export async function firstProvider<T>(
  providers: readonly ExecutionProvider[],
  open: (provider: ExecutionProvider) => Promise<T>,
): Promise<{ opened: T; provider: ExecutionProvider; refused: readonly RefusedProvider[] }> {
  const refused: RefusedProvider[] = [];
  for (const provider of providers) {
    try {
      return { opened: await open(provider), provider, refused };
    } catch (error) {
      refused.push({ provider, reason: reasonOf(error) });
    }
  }
  throw new Error(refused.map(({ provider, reason }) => `${provider}: ${reason}`).join('; '));
}

function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim();
  return text.length > MAX_REASON_CHARS ? `${text.slice(0, MAX_REASON_CHARS)}…` : text;
}
