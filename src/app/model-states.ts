import type { ModelState } from '../ports/model-runtime.js';
import type { Engines } from './installation.js';

/** The models that serve, for `stats` and metrics: the embedder, and the reranker where one was configured. */
export function modelStates({ embedder, reranker }: Pick<Engines, 'embedder' | 'reranker'>): ModelState[] {
  const states: ModelState[] = [
    {
      role: 'EMBEDDING',
      id: embedder.model.id,
      runtime: embedder.runtime?.(),
      usage: embedder.usage?.(),
    },
  ];
  if (reranker !== undefined)
    states.push({
      role: 'RERANKING',
      id: reranker.modelId,
      runtime: reranker.runtime?.(),
      usage: reranker.usage?.(),
    });
  return states;
}
