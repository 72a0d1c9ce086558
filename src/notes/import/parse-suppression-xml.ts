import { SaxesParser } from 'saxes';
import { ErrataError } from '../../domain/errors.js';
import type { DecodedText } from './decode-text.js';
import type { ImportDefaults, ImportRow, ParsedFile } from './import-row.js';
import { type Suppression, toCorrection } from './suppression-correction.js';

/** The versions of the schema differ in what they add to `suppress`, not in what is read here. */
const NAMESPACE = /dependency-suppression/u;
const ROOT = 'suppressions';
const ELEMENT = 'suppress';

/**
 * OWASP Dependency-Check suppression files, schema 1.x, with or without namespace and prefix: one correction a `suppress`
 * element. Document types are refused, and with them every entity of one's own: a suppression file needs neither. Linear.
 *
 * Errors: `INVALID_FILE` with line, column and byte offset.
 */
export function parseSuppressionXml(
  decoded: DecodedText,
  fileName: string,
  defaults: ImportDefaults,
): ParsedFile {
  const rows: ImportRow[] = [];
  const ignored = new Set<string>();
  const parser = new SaxesParser({ xmlns: true, position: true });
  const path: string[] = [];
  let current: { line: number; suppression: Suppression } | undefined;
  let content = '';
  let regex = false;

  const refuse = (what: string, expected = 'a well-formed suppression file'): ErrataError => {
    const { line, column, position } = parser;
    const offset = decoded.byteOffset(Math.min(position, decoded.text.length));
    return new ErrataError(
      'INVALID_FILE',
      `Expected ${expected} for ${fileName}, received ${what} at line ${line}, column ${column} (byte ${offset})`,
      { details: { file: fileName, line, column, byteOffset: offset } },
    );
  };
  parser.on('error', (error) => {
    throw refuse(error.message.replace(/^[^ ]*\d+:\d+: /u, '').slice(0, 120));
  });
  parser.on('doctype', () => {
    throw refuse('a document type', 'XML without a document type');
  });
  parser.on('opentag', (tag) => {
    if (path.length === 0 && (tag.local !== ROOT || (tag.uri !== '' && !NAMESPACE.test(tag.uri)))) {
      throw refuse('another root element', `the root element ${ROOT} of Dependency-Check`);
    }
    path.push(tag.local);
    content = '';
    regex = tag.attributes.regex?.value === 'true';
    if (path.length === 2 && tag.local === ELEMENT) {
      const until = tag.attributes.until?.value;
      current = { line: parser.line, suppression: { until, elements: [] } };
    }
  });
  const collect = (text: string): void => {
    content += path.length === 3 ? text : '';
  };
  parser.on('text', collect);
  parser.on('cdata', collect);
  parser.on('closetag', (tag) => {
    if (path.length === 3 && current !== undefined) {
      current.suppression.elements.push({ name: tag.local, value: content, regex });
    }
    if (path.length === 2 && current !== undefined) {
      const { line, suppression } = current;
      const { input, unread } = toCorrection(suppression, fileName);
      for (const name of unread) {
        ignored.add(name);
      }
      rows.push({ row: rows.length + 1, line, inputs: [{ ...defaults, ...input }] });
      current = undefined;
    }
    path.pop();
  });
  parser.write(decoded.text).close();
  return { rows, ignored: [...ignored] };
}

/** The encoding that an XML declaration names, read from the first bytes; none where there is no declaration. */
export function declaredXmlEncoding(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 256)).toString('latin1');
  return /^(?:\u00EF\u00BB\u00BF)?<\?xml[^>]{0,200}?\sencoding\s{0,4}=\s{0,4}["']([\w.:-]{1,40})["']/u.exec(
    start,
  )?.[1];
}
