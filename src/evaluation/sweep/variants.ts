import type { RetrieveRequest } from '../../ports/use-cases.js';
import type { VectorIndex } from '../../ports/vector-index.js';
import { DEFAULT_CANDIDATE_K, DEFAULT_FINAL_K } from '../../retrieval/check-request.js';
import type { RetrieveDeps } from '../../retrieval/retrieve.js';
import { LEXICAL_SHARE } from '../../retrieval/score-fusion.js';
import type { ScoreModel } from '../../retrieval/score-model.js';

/** One way to answer. `deps` are what the read path is built of, `request` what is asked beside the query. */
export interface Variant {
  readonly group: VariantGroup;
  readonly name: string;
  readonly deps: RetrieveDeps;
  readonly request: Partial<RetrieveRequest>;
  /** Whether these are the settings that are shipped. */
  readonly shipped: boolean;
}

/** Stages build upon each other; each other group changes one setting and leaves the rest as shipped. */
export const VARIANT_GROUPS = {
  stages: 'Stages',
  lexicalShare: 'Share of full text in the fusion',
  candidateK: 'Candidates (candidateK)',
  finalK: 'Notes in an answer (finalK)',
  threshold: 'Threshold',
  efSearch: 'Beam of the graph (efSearch)',
} as const;
export type VariantGroup = keyof typeof VARIANT_GROUPS;

/** Lower than any score. */
const NO_THRESHOLD = -1e9;
/** So much that cosines only break ties. */
const TEXT_ONLY_SHARE = 1e6;
const FUSION_SHARES = [0, 0.05, LEXICAL_SHARE, 0.2, 0.5, 1];
const CANDIDATE_KS = [5, 10, 20, 40, 80];
const FINAL_KS = [1, 2, 3, 5, 10];
const THRESHOLDS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8];
const BEAMS = [4, 8, 16, 32, 64, 128];

const shippedShare = ({ lexicalShare = LEXICAL_SHARE }: RetrieveDeps): number => lexicalShare;

/** The model's own among them, in order. */
const fusionShares = (deps: RetrieveDeps): readonly number[] =>
  [...new Set([...FUSION_SHARES, shippedShare(deps)])].sort((a, b) => a - b);

/**
 * Everything that a sweep tries. `graph.index` holds the same notes as `deps.vectorIndex`, searched by graph whatever their number, with the
 * beam that ships as `graph.efSearch`; none: the beam is left out.
 */
export function sweepVariants(
  deps: RetrieveDeps,
  graph: { readonly index: VectorIndex; readonly efSearch: number } | undefined,
): readonly Variant[] {
  const one = (
    group: VariantGroup,
    name: string,
    change: Partial<RetrieveDeps>,
    request: Partial<RetrieveRequest> = {},
    shipped = false,
  ): Variant => ({ group, name, deps: { ...deps, ...change }, request, shipped });
  const ranked = { risk: 'LOW', threshold: NO_THRESHOLD } as const;
  const inOrder = (): Partial<RetrieveDeps> => ({ scoreModel: orderOfCandidates() });
  return [
    one('stages', 'vectors only', { ...inOrder(), lexicalIndex: withoutHits(deps.lexicalIndex) }, ranked),
    one(
      'stages',
      'text only',
      { ...inOrder(), vectorIndex: withoutSearch(deps.vectorIndex), lexicalShare: TEXT_ONLY_SHARE },
      ranked,
    ),
    one('stages', 'fusion', inOrder(), ranked),
    one('stages', '+ match score', {}, ranked),
    one('stages', '+ reranker', {}, { threshold: NO_THRESHOLD }),
    one('stages', '+ threshold', {}, {}, true),
    ...fusionShares(deps).map((lexicalShare) =>
      one(
        'lexicalShare',
        String(lexicalShare),
        { ...inOrder(), lexicalShare },
        ranked,
        lexicalShare === shippedShare(deps),
      ),
    ),
    ...CANDIDATE_KS.map((candidateK) =>
      one('candidateK', String(candidateK), {}, { candidateK }, candidateK === DEFAULT_CANDIDATE_K),
    ),
    ...FINAL_KS.map((finalK) => one('finalK', String(finalK), {}, { finalK }, finalK === DEFAULT_FINAL_K)),
    one('threshold', 'shipped', {}, {}, true),
    ...THRESHOLDS.map((threshold) => one('threshold', String(threshold), {}, { threshold })),
    ...(graph === undefined
      ? []
      : BEAMS.map((efSearch) =>
          one(
            'efSearch',
            String(efSearch),
            { vectorIndex: withBeam(graph.index, efSearch) },
            {},
            efSearch === graph.efSearch,
          ),
        )),
  ];
}

/** Leaves candidates in the order in which the fusion gave them: each is scored a little below the one before. Not for concurrent use. */
function orderOfCandidates(): ScoreModel {
  let scored = 0;
  return {
    scale: 'cosine',
    threshold: NO_THRESHOLD,
    score: () => {
      scored += 1;
      return -scored;
    },
  };
}

function withoutHits(index: RetrieveDeps['lexicalIndex']): RetrieveDeps['lexicalIndex'] {
  return delegate(index, { search: async () => [] });
}

function withoutSearch(index: VectorIndex): VectorIndex {
  return delegate(index, { search: async () => ({ hits: [], plan: 'none', exhaustive: true }) });
}

function withBeam(index: VectorIndex, efSearch: number): VectorIndex {
  return delegate(index, { search: (query) => index.search({ ...query, efSearch }) });
}

/** An object with some methods replaced; a spread would lose those of the prototype. */
function delegate<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (object, name) => {
      const replaced: unknown = Reflect.get(methods, name);
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
