import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import type { ExecutionProvider } from '../../domain/inference.js';
import type { GraphUse, SessionData } from './embed-protocol.js';
import { firstProvider, type RefusedProvider } from './first-provider.js';
import type { Runtime } from './run-model.js';

/** Only errors: a model's own warnings would go to stderr past the log. */
const LOG_ERRORS = 3;

export interface OpenedSession {
  readonly session: InferenceSession;
  readonly provider: ExecutionProvider;
  readonly refused: readonly RefusedProvider[];
  readonly graph: GraphUse;
}

/** Errors: plain ones with the runtime's reasons where no provider takes the model. */
export async function openSession(runtime: Runtime, data: SessionData): Promise<OpenedSession> {
  const { opened, provider, refused } = await firstProvider(data.providers, (wanted) =>
    openOn(runtime, data, wanted),
  );
  return { ...opened, provider, refused };
}

/**
 * Why a provider cannot be had, as far as that can be told without asking the runtime, which writes its own lines to stderr.
 * Errors: plain ones.
 */
function checkPresent(runtime: Runtime, provider: ExecutionProvider): void {
  if (!runtime.listSupportedBackends().some(({ name }) => name === provider))
    throw new Error(`not part of ONNX Runtime for ${process.platform}-${process.arch}`);
  if (provider !== 'cuda' && provider !== 'tensorrt') return;
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  const folder = join(dirname(manifest), 'bin', 'napi-v6', process.platform, process.arch);
  for (const part of ['shared', provider]) {
    const file = `libonnxruntime_providers_${part}.so`;
    if (!existsSync(join(folder, file))) throw new Error(`${file} is not installed, see docs/gpu.md`);
  }
}

async function openOn(runtime: Runtime, data: SessionData, provider: ExecutionProvider) {
  checkPresent(runtime, provider);
  const options: InferenceSession.SessionOptions = {
    executionProviders: [provider],
    intraOpNumThreads: data.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: LOG_ERRORS,
  };
  const create = (file: string, more: InferenceSession.SessionOptions = {}) =>
    runtime.InferenceSession.create(file, { ...options, ...more });
  // What other providers make of a graph is bound to their devices: only the CPU's is kept.
  const { optimised, optimisedTarget } = provider === 'cpu' ? data : {};
  if (optimised !== undefined) {
    try {
      const session = await create(optimised, { graphOptimizationLevel: 'disabled' });
      return { session, graph: 'REMEMBERED' as const };
    } catch {
      // As good as none; its owner is told and makes it anew.
      return { session: await create(data.weightsPath), graph: 'UNREADABLE' as const };
    }
  }
  if (optimisedTarget === undefined)
    return { session: await create(data.weightsPath), graph: 'OWN' as const };
  try {
    const session = await create(data.weightsPath, { optimizedModelFilePath: optimisedTarget });
    return { session, graph: 'WRITTEN' as const };
  } catch {
    // A graph that cannot be written (a full disk, an operator that cannot be saved) must not keep the model from running.
    return { session: await create(data.weightsPath), graph: 'OWN' as const };
  }
}
