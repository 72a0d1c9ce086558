import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNativeVectorIndex } from '../adapters/native/native-vector-index.js';
import { createFtsLexicalIndex } from '../adapters/sqlite/fts-lexical-index.js';
import type { Config } from '../config/config.js';
import { type OrderClassifier, parseOrderClassifier } from '../guard/order-classifier.js';
import { CachingEmbedder } from '../models/caching-embedder.js';
import { type SimilarityLimits, UNFITTED_SIMILARITIES } from '../notes/note-deps.js';
import type { Cipher } from '../ports/cipher.js';
import type { Embedder } from '../ports/embedder.js';
import type { IndexSnapshots } from '../ports/index-snapshots.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import { type Logger, silentLogger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { Reranker } from '../ports/reranker.js';
import type { TextClassifier } from '../ports/text-classifier.js';
import type { VectorIndex } from '../ports/vector-index.js';
import { type FittedScore, parseFittedScore } from '../retrieval/score-model.js';
import { openCipher } from './open-cipher.js';
import { openEmbedder, openReranker, openScreenModel } from './open-models.js';
import { openSnapshots } from './open-snapshots.js';

/** The file name of the embedded store under `dataDir`. */
const STORE_FILE = 'errata.sqlite';

/**
 * Opens what `MONGODB_URI` or the data folder holds. Each driver is loaded only where it is used: better-sqlite3 is bound to
 * the Node version it was compiled for, and a MongoDB installation must run without it. Whoever opens engines, too, opens one cipher for
 * both, since a key command may ask a service or a person.
 */
export async function openStore(
  config: Config,
  cipher: Cipher | undefined = openCipher(config),
): Promise<Store> {
  if (config.mongodbUri !== undefined) {
    const { createMongoStore } = await import('../adapters/mongo/create-mongo-store.js');
    return createMongoStore({ uri: config.mongodbUri, cipher });
  }
  const { createSqliteStore } = await import('../adapters/sqlite/create-sqlite-store.js');
  return createSqliteStore({ path: join(config.dataDir, STORE_FILE), cipher });
}

/** What retrieval works with beside the store. */
export interface Engines {
  readonly embedder: Embedder;
  /** What the embedder was opened by: a directory's place, where its own name says less. Absent: that name. */
  readonly openedAs?: string | undefined;
  readonly vectorIndex: VectorIndex;
  readonly lexicalIndex: LexicalIndex;
  /** Absent where they were switched off. */
  readonly snapshots?: IndexSnapshots | undefined;
  readonly fittedScore: FittedScore | undefined;
  /** Fitted for the embedder; none: the write path's careful ones. */
  readonly similarities: SimilarityLimits | undefined;
  /** Whether answers are judged by late interaction where it was fitted for the embedder. */
  readonly lateInteraction: boolean;
  /** A cross-encoder or hosted reranker; it goes before late interaction. */
  readonly reranker?: Reranker | undefined;
  /** What the injection screen asks beside its rules. */
  readonly screenModel?: TextClassifier | undefined;
  close(): Promise<void>;
}

/** Loads the model and makes empty indexes. Errors: `UNKNOWN_MODEL`, `MODEL_NOT_INSTALLED`, `DIGEST_MISMATCH`, `TOOL_MISSING`. */
export async function openEngines(
  config: Config,
  logger: Logger = silentLogger,
  cipher: Cipher | undefined = openCipher(config),
): Promise<Engines> {
  const embedder = new CachingEmbedder(await openEmbedder(config, logger));
  const fittedScore = readFittedScore(embedder.model.name);
  let reranker: Reranker | undefined;
  let screenModel: TextClassifier | undefined;
  try {
    reranker = await openReranker(config, logger);
    screenModel = await openScreenModel(config, logger);
    const vectorIndex = createNativeVectorIndex({
      dimensions: embedder.model.dimensions,
      graphThreshold: config.graph.threshold,
      connectivity: config.graph.connectivity,
      efConstruction: config.graph.efConstruction,
      efSearch: config.graph.efSearch,
      poolThreads: config.indexThreads,
    });
    const lexicalIndex = createFtsLexicalIndex();
    return {
      embedder,
      openedAs: config.embedder,
      vectorIndex,
      lexicalIndex,
      snapshots: openSnapshots(config, vectorIndex, embedder.model.id, cipher),
      fittedScore,
      similarities: similaritiesOf(fittedScore, embedder.model.id, logger),
      // Also beside another reranker, for the case that this fails.
      lateInteraction: config.reranker !== undefined,
      reranker,
      screenModel,
      async close() {
        await lexicalIndex.close();
        await vectorIndex.close();
        await screenModel?.close();
        await reranker?.close();
        await embedder.close();
      },
    };
  } catch (error) {
    await screenModel?.close();
    await reranker?.close();
    await embedder.close();
    throw error;
  }
}

/** Digest of the weights behind the scores; null where those in use were fitted for another model. */
export function scoreFitOf({
  fittedScore,
  embedder,
}: Pick<Engines, 'fittedScore' | 'embedder'>): string | null {
  if (fittedScore?.embeddingModel !== embedder.model.id) return null;
  // Those of the write path have no part in a score.
  const scores = JSON.stringify({ ...fittedScore, nearDuplicates: undefined });
  return createHash('sha256').update(scores).digest('hex').slice(0, 16);
}

function similaritiesOf(
  fittedScore: FittedScore | undefined,
  modelId: string,
  logger: Logger,
): SimilarityLimits | undefined {
  const limits = fittedScore?.embeddingModel === modelId ? fittedScore.nearDuplicates : undefined;
  if (limits === undefined) {
    const { proposalSimilarity } = UNFITTED_SIMILARITIES;
    logger.warn(
      { model: modelId, proposalSimilarity },
      'no limits for near duplicates were fitted for this model: they are proposed only, never merged',
    );
    return undefined;
  }
  const { duplicateSimilarity, contradictionSimilarity, proposalSimilarity } = limits;
  return { duplicateSimilarity, contradictionSimilarity, proposalSimilarity };
}

/** Weights that were fitted on the sample's tuning half and shipped with the code; undefined for other models. */
export function readFittedScore(model: string): FittedScore | undefined {
  try {
    return parseFittedScore(readFileSync(fittedScoreFile(model), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The trained signal of the injection screen: 44 KB, read where notes are written, in about a millisecond. */
export function readOrderClassifier(): OrderClassifier {
  return parseOrderClassifier(
    readFileSync(new URL('../../calibration/injection.json', import.meta.url), 'utf8'),
  );
}

export function fittedScoreFile(model: string): URL {
  return new URL(`../../calibration/${model}.json`, import.meta.url);
}
