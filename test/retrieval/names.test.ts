import { describe, expect, it } from 'vitest';
import { namesAnother, namesIn } from '../../src/retrieval/names.js';

const another = (query: string, note: string) => namesAnother(namesIn(query), namesIn(note));

describe('namesIn', () => {
  it('groups what a text names by kind, and leaves versions and amounts out', () => {
    const names = namesIn(
      'CVE-2021-44228 in log4j-core 2.14.1, 175 bp, server.requestTimeout, Art. 33(1), § 613a, HTTP 409',
    );
    expect(Object.fromEntries([...names].map(([kind, own]) => [kind, [...own]]))).toEqual({
      'cve-9-9': ['cve-2021-44228'],
      'log9j-core': ['log4j-core'],
      'server.': ['server.requesttimeout'],
      'art 9': ['33'],
      '§ 9': ['613a'],
      'http 9': ['409'],
    });
    expect(namesIn('nothing in particular, 3 times').size).toBe(0);
  });
});

describe('namesAnother', () => {
  it('is true for another of the same kind', () => {
    expect(another('CVE-2020-28500 in lodash', 'CVE-2019-10744 is fixed from 4.17.12 on')).toBe(true);
    expect(another('MOD-9.2 hit', 'Under MOD-9.1 the first strike')).toBe(true);
    expect(another('server.keepAliveTimeout kept', 'server.requestTimeout is 300 s')).toBe(true);
    expect(another('GDPR Art. 27 representative', 'The 72 hours of GDPR Art. 33(1)')).toBe(true);
    expect(another('HTTP 409 from POST', 'On HTTP 429 tell integrators')).toBe(true);
  });

  it('is false for the same, for another kind, and where one of them names nothing', () => {
    expect(another('CVE-2021-44228, log4j-api', 'CVE-2021-44228 sits in log4j-core')).toBe(false);
    expect(another('S2068 reported', 'CWE-79 with DOMPurify')).toBe(false);
    expect(another('Node 22 and its default', 'Node 20 and its default')).toBe(false);
    expect(another('a paraphrase', 'CVE-2021-44228')).toBe(false);
    expect(another('CVE-2021-44228', 'a lesson without names')).toBe(false);
  });
});
