/** Sizes that every edge enforces. Lengths are UTF-16 units, so that checking them costs nothing. */
export const LIMITS = {
  /** A lesson is one injected line; at 4 characters a token, 1,000 still fit the default budget of 800 tokens twice. */
  lessonLength: 1_000,
  wrongAnswerLength: 8_000,
  correctionLength: 8_000,
  queryLength: 8_000,
  namespaceLength: 64,
  taskTypeLength: 64,
  attributes: 32,
  attributeKeyLength: 64,
  attributeValueLength: 256,
  sourceFieldLength: 2_048,
  reasonLength: 2_000,
  sourcesPerNote: 200,
  /** Past versions that are looked through; more are kept. */
  keptVersions: 1_000,
  batchSize: 1_000,
  pageSize: 200,
  candidateK: 200,
  finalK: 20,
  /** A wider beam is a scan. */
  efSearch: 65_536,
  baseInstructionsLength: 100_000,
  itemLength: 500_000,
  maxContextTokens: 32_000,
} as const;
