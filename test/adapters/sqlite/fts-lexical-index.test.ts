import { createFtsLexicalIndex } from '../../../src/adapters/sqlite/fts-lexical-index.js';
import { describeLexicalIndex } from '../../contract/lexical-index.contract.js';

describeLexicalIndex('FTS5 index (better-sqlite3)', () => createFtsLexicalIndex());

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
describeLexicalIndex(
  'FTS5 index (node:sqlite)',
  () => createFtsLexicalIndex({ engine: 'node:sqlite' }),
  major > 22 || (major === 22 && minor >= 13)
    ? undefined
    : `Node ${process.versions.node} has no node:sqlite`,
);
