import { existsSync, readFileSync } from 'node:fs';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../src/notes/import/decode-text.js';
import { type ImportRequest, parseFile } from '../../../src/notes/import/import-file.js';
import type { CorrectionInput } from '../../../src/ports/use-cases.js';

const parse = (fileName: string, content: string | Uint8Array, more: Partial<ImportRequest> = {}) =>
  parseFile({ fileName, bytes: typeof content === 'string' ? Buffer.from(content) : content, ...more });
const inputs = (rows: ReturnType<typeof parse>): readonly CorrectionInput[] =>
  rows.rows.flatMap((row) => row.inputs);
const thrown = (work: () => unknown): { code: string; message: string; details: object } => {
  try {
    work();
  } catch (error) {
    return error as never;
  }
  throw new Error('Expected an error, received none');
};

describe('decodeText', () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

  it.each([
    ['UTF-8', Buffer.from('naïve 日本'), undefined],
    ['UTF-8 with a mark', bytes([0xef, 0xbb, 0xbf], 'naïve 日本'), undefined],
    ['UTF-16LE with a mark', Buffer.from('\uFEFFnaïve 日本', 'utf16le'), undefined],
    ['UTF-16BE with a mark', Buffer.from('\uFEFFnaïve 日本', 'utf16le').swap16(), undefined],
    ['declared UTF-16', Buffer.from('\uFEFFnaïve 日本', 'utf16le'), 'utf-16'],
    ['declared Shift_JIS', iconv.encode('na日本', 'shift_jis'), 'shift_jis'],
  ])('reads %s', (_name, content, encoding) => {
    expect(decodeText({ fileName: 'a.csv', bytes: content, encoding }).text).toBe(
      encoding === 'shift_jis' ? 'na日本' : 'naïve 日本',
    );
  });

  it('reads a declared legacy encoding', () => {
    const content = iconv.encode('Größe – 5 €', 'windows-1252');
    expect(decodeText({ fileName: 'a.csv', bytes: content, encoding: 'windows-1252' }).text).toBe(
      'Größe – 5 €',
    );
  });

  it.each([
    ['a legacy byte', bytes('abc ', [0xe9], ' def'), undefined, 4],
    ['a cut character', bytes('ab', [0xe6, 0x97]), undefined, 2],
    ['a broken character', bytes('ab', [0xe6, 0x97], 'cd'), undefined, 2],
    ['an encoded surrogate', bytes('ab', [0xed, 0xa0, 0x80], 'cd'), undefined, 2],
    ['after a mark', bytes([0xef, 0xbb, 0xbf], 'ab', [0xff]), undefined, 5],
    ['late in a large file', bytes('x'.repeat(100_000), 'é', [0x80]), undefined, 100_002],
    ['UTF-16 without a mark', Buffer.from('ab', 'utf16le'), undefined, 1],
    ['odd UTF-16', bytes([0xff, 0xfe, 0x61, 0x00, 0x62]), undefined, 4],
    ['a lone surrogate in UTF-16', bytes([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8, 0x62, 0x00]), undefined, 4],
    ['a wrong declaration', bytes('ab', [0x81, 0x20]), 'shift_jis', 2],
  ])('refuses %s with its offset', (_name, content, encoding, byteOffset) => {
    expect(thrown(() => decodeText({ fileName: 'a.csv', bytes: content, encoding }))).toMatchObject({
      code: 'UNSUPPORTED_ENCODING',
      message: expect.stringContaining('a.csv'),
      details: { byteOffset },
    });
  });

  it('refuses an unknown label', () => {
    expect(
      thrown(() => decodeText({ fileName: 'a', bytes: Buffer.from('a'), encoding: 'klingon' })).code,
    ).toBe('UNSUPPORTED_ENCODING');
  });
});

describe('parseCsv', () => {
  const HEAD = 'taskType,wrongAnswer,correction,lesson';

  it.each([
    [',', '\n'],
    [',', '\r\n'],
    [';', '\r\n'],
    ['\t', '\n'],
    ['|', '\n'],
    [',', '\r'],
  ])('reads delimiter %j with line end %j', (delimiter, end) => {
    const content = [
      HEAD.replaceAll(',', delimiter),
      ['t', '"a ""quoted"" one"', `"b${end}c"`, `"d${delimiter}e"`].join(delimiter),
      '',
    ].join(end);
    expect(inputs(parse('a.csv', `\uFEFF${content}`))).toEqual([
      { taskType: 't', wrongAnswer: 'a "quoted" one', correction: `b${end}c`, lesson: `d${delimiter}e` },
    ]);
  });

  it('maps headings, sources and attributes, and says what it left out', () => {
    const parsed = parse(
      'a.csv',
      'Task Type,WRONG_ANSWER,correction,Lesson,impact,attributes.repo,attr:lang,author,Review After,Colour\nt,w,c,l,high,core,,ann,2026-01-01T00:00:00Z,red\n',
    );
    expect(inputs(parsed)).toEqual([
      {
        taskType: 't',
        wrongAnswer: 'w',
        correction: 'c',
        lesson: 'l',
        impact: 'HIGH',
        attributes: { repo: 'core' },
        source: { kind: 'import', author: 'ann' },
        reviewAfter: '2026-01-01T00:00:00Z',
      },
    ]);
    expect(parsed.ignored).toEqual(['Colour']);
  });

  it('refuses single records and goes on, with line numbers', () => {
    const { rows } = parse('a.csv', `${HEAD}\nt,"a\nb",c,d\nt,only,three\nt,w,c,l\n`);
    expect(rows.map(({ row, line, rejected }) => [row, line, rejected?.outcome])).toEqual([
      [1, 2, undefined],
      [2, 4, 'REFUSED'],
      [3, 5, undefined],
    ]);
  });

  it.each([
    ['never closed', `${HEAD}\nt,é,"open,l\nt,w,c,l\n`, 2, Buffer.byteLength(`${HEAD}\nt,é,`)],
    ['closed within', `${HEAD}\nt,w,c,l\nt,"a"b,c,l\n`, 3, Buffer.byteLength(`${HEAD}\nt,w,c,l\nt,`)],
    ['opened within', `${HEAD}\nt,a"b",c,l\n`, 2, Buffer.byteLength(`${HEAD}\nt,a`)],
  ])('refuses a file with a quote %s', (_name, content, line, byteOffset) => {
    expect(thrown(() => parse('a.csv', content))).toMatchObject({
      code: 'INVALID_FILE',
      details: { file: 'a.csv', line, byteOffset },
    });
  });

  it('counts bytes of the file, not characters of the text', () => {
    const content = iconv.encode(`${HEAD}\nt,é,"open`, 'utf-16le', { addBOM: true });
    const head = 2 + 2 * `${HEAD}\nt,é,`.length;
    expect(thrown(() => parse('a.csv', content)).details).toMatchObject({ byteOffset: head });
  });

  it('refuses a file without the headings it needs', () => {
    expect(thrown(() => parse('a.csv', 'a,b\n1,2\n'))).toMatchObject({
      code: 'INVALID_FILE',
      message: expect.stringContaining('lesson'),
    });
    expect(thrown(() => parse('a.csv', '')).code).toBe('INVALID_FILE');
    expect(
      inputs(parse('a.csv', 'wrong,correction,lesson\nw,c,l\n', { taskType: 'given' }))[0]?.taskType,
    ).toBe('given');
  });
});

describe('parseJsonl', () => {
  const record = { taskType: 't', wrongAnswer: 'w', correction: 'c', lesson: 'l' };

  it('reads objects, refuses other lines on their own, and names unknown keys', () => {
    const lines = [
      JSON.stringify({ ...record, key: 'x' }),
      '',
      '{broken',
      '[1]',
      JSON.stringify(record),
    ].join('\r\n');
    const parsed = parse('a.jsonl', lines);
    expect(parsed.rows.map(({ row, line, rejected }) => [row, line, rejected?.outcome])).toEqual([
      [1, 1, undefined],
      [2, 3, 'REFUSED'],
      [3, 4, 'REFUSED'],
      [4, 5, undefined],
    ]);
    expect(parsed.ignored).toEqual(['key']);
    expect(inputs(parsed)[0]).toEqual({ ...record, source: undefined });
  });

  it('takes attribute pairs, refuses a key that occurs twice, and skips deprecated notes', () => {
    const lines = [
      { ...record, attributes: [{ key: 'a', value: 'b' }] },
      {
        ...record,
        attributes: [
          { key: 'a', value: 'b' },
          { key: 'a', value: 'c' },
        ],
      },
      { ...record, status: 'DEPRECATED' },
    ];
    const { rows } = parse('a.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(rows.map(({ inputs: own, rejected }) => own[0]?.attributes ?? rejected?.outcome)).toEqual([
      { a: 'b' },
      'REFUSED',
      'SKIPPED',
    ]);
  });
});

describe('parseSuppressionXml', () => {
  const wrap = (
    inner: string,
    ns = 'https://jeremylong.github.io/DependencyCheck/dependency-suppression.1.3.xsd',
  ) => `<?xml version="1.0" encoding="UTF-8"?>\n<suppressions xmlns="${ns}">\n${inner}\n</suppressions>`;
  const NETTY = `<suppress until="2026-09-15Z"><notes><![CDATA[
      Netty findings concern servers.
      This is a desktop program & <never> listens.
      Review Date: 2025-09-15
      Reviewer: Team Blue
      Next Review: 2026-03-15
    ]]></notes><packageUrl regex="true">^pkg:maven/io\\.netty/.*@.*$</packageUrl><cve>CVE-2023-44487</cve></suppress>`;

  it('words one correction an element', () => {
    expect(inputs(parse('s.xml', wrap(NETTY), { namespace: 'sec' }))).toEqual([
      {
        namespace: 'sec',
        taskType: 'dependency-scan',
        wrongAnswer: 'The dependency scanner reported CVE-2023-44487 for io.netty/*.',
        correction: 'Netty findings concern servers.\nThis is a desktop program & <never> listens.',
        lesson:
          'Do not report CVE-2023-44487 for io.netty/*: Netty findings concern servers. This is a desktop program & <never> listens.',
        attributes: { package: 'io.netty/*', cve: 'CVE-2023-44487' },
        source: { kind: 'suppression', tool: 'dependency-check', record: 's.xml', author: 'Team Blue' },
        createdAt: '2025-09-15T00:00:00Z',
        reviewAfter: '2026-03-15T00:00:00Z',
        expiresAt: '2026-09-15T00:00:00Z',
      },
    ]);
  });

  it.each([
    [
      '<gav>org.a:b:1</gav><cpe>cpe:/a:junit:junit</cpe>',
      'vulnerabilities of cpe:/a:junit:junit for org.a:b:1',
    ],
    ['<cvssBelow>4.0</cvssBelow>', 'vulnerabilities with a CVSS score below 4.0 for any package'],
    [
      '<filePath regex="true">.*\\bfoo\\.jar</filePath><vulnerabilityName>CVE-1</vulnerabilityName><cwe>79</cwe>',
      'vulnerabilities named CVE-1 and vulnerabilities of CWE-79 for *foo.jar',
    ],
    [
      '<sha1>9f86d081884c7d659a2feaa0c55ad015a3bf4f1b</sha1>',
      'vulnerabilities for 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
    ],
  ])('reads %s', (inner, claim) => {
    const [input] = inputs(parse('s.xml', wrap(`<suppress>${inner}</suppress>`)));
    expect(input?.wrongAnswer).toBe(`The dependency scanner reported ${claim}.`);
    expect(input?.correction).not.toBe('');
  });

  it('reads prefixes, no namespace, and declared encodings', () => {
    const prefixed =
      '<s:suppressions xmlns:s="x/dependency-suppression.1.1.xsd"><s:suppress><s:cve>CVE-1</s:cve></s:suppress></s:suppressions>';
    expect(parse('s.xml', prefixed).rows).toHaveLength(1);
    expect(
      parse('s.xml', '<suppressions><suppress><cve>C</cve></suppress></suppressions>').rows,
    ).toHaveLength(1);
    const latin = iconv.encode(
      '<?xml version="1.0" encoding="ISO-8859-1"?><suppressions><suppress><notes>Größe</notes></suppress></suppressions>',
      'latin1',
    );
    expect(inputs(parse('s.xml', latin))[0]?.correction).toBe('Größe');
  });

  it.each([
    ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><suppressions/>', 1],
    ['an entity of its own', wrap('<suppress><notes>&bomb;</notes></suppress>'), 3],
    ['a tag that is not closed', wrap('<suppress><cve>x</suppress>'), 3],
    ['an unfinished file', '<suppressions>\n<suppress>', 2],
    ['another root', '<project/>', 1],
    ['another namespace', wrap('', 'http://maven.apache.org/POM/4.0.0'), 2],
    ['no XML', 'hello', 1],
    ['nothing', '', 1],
  ])('refuses %s with its place', (_name, content, line) => {
    expect(thrown(() => parse('s.xml', content))).toMatchObject({
      code: 'INVALID_FILE',
      message: expect.stringContaining('s.xml'),
      details: { line },
    });
  });

  const REAL = new URL('../../../../shared/data/real/', import.meta.url);
  it.skipIf(!existsSync(REAL))(
    'reads real files of two projects (skipped where they are not beside the repository)',
    () => {
      const read = (name: string) => inputs(parse(name, readFileSync(new URL(name, REAL))));
      const hdf = read('dependency-check-hdfview.xml');
      expect(hdf).toHaveLength(9);
      expect(hdf.at(-1)).toMatchObject({
        attributes: { package: 'io.netty/*' },
        lesson: expect.stringMatching(/io\.netty.*desktop application/u),
        reviewAfter: '2026-03-15T00:00:00Z',
      });
      expect(hdf.filter(({ expiresAt }) => expiresAt !== undefined)).toHaveLength(1);
      const [jgit] = read('dependency-check-snowstorm-lite.xml');
      expect(jgit?.attributes).toEqual({
        product: 'org.eclipse.jgit',
        package: 'org.eclipse.jgit/org.eclipse.jgit@7.2.1.202505142326-r',
        cve: 'CVE-2025-4949',
      });
    },
  );
});

it('wants a format or an ending that tells it', () => {
  expect(thrown(() => parse('notes.txt', 'x')).code).toBe('INVALID_INPUT');
});
