import { isSecretValue } from './secret-assignments.js';
import type { SecretSpan } from './secret-rules.js';

/** One way to show a password that is no assignment: a sentence, a command line, a tag. */
interface Showing {
  /** Cheap test before the pattern runs, on lower-case text. */
  readonly hint: RegExp;
  /** Global; the group `value` is what is replaced, `name` what it is said to be. Bounded repeats only. */
  readonly pattern: RegExp;
  /** `strict` asks for a value that can hardly be a word or a technical name, `code` for what an assignment in code does. */
  readonly value: 'strict' | 'prose' | 'code' | 'any';
}

/** Words for a password over the languages of the sample. */
const WORD =
  'pass(?:word|wort|code|phrase)|passwd|kennwort|mot de passe|contrase[ñn]a|palavra-passe|senha|parola|wachtwoord|l[öo]senord|has[łl]o|heslo|пароль|пароля|[şs]ifre|mật khẩu|kata sandi|كلمة المرور|पासवर्ड|パスワード|暗証番号|密码|密碼|口令|비밀번호|암호';
const IS =
  '(?:is|was|are|be|lautet|lautete|ist|war|heißt|est|était|es|era|è|é|:|：|=|to|auf|für alle|то|это|—|は|が|是|为|為|는|은|adalah|yw|är|to jest|je|is het)';
/** Not the end of a sentence, not a bracket. */
const VALUE = '(?<value>[^\\s"\'`<>,;(){}[\\]。、，；]{6,128})';

const SHOWINGS: readonly Showing[] = [
  {
    // The password is X, Passwort lautet X, mot de passe : X, パスワード: X.
    hint: /pass|kenn|mot de|contrase|palavra|senha|parola|wacht|senord|has|heslo|парол|ifre|mật|sandi|كلمة|पास|パス|暗証|密|口令|비밀|암호/u,
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}_])(?<name>${WORD})s?(?: (?:\\p{L}{1,12} ){0,3}?|\\s{0,2})${IS}\\s{0,3}["'\`„«“]?${VALUE}`,
      'giu',
    ),
    value: 'prose',
  },
  {
    // Kennwort X, password (X): nothing says that it is one but its form.
    hint: /pass|kenn|mot de|contrase|senha|wacht|senord|has|heslo|парол|ifre|パス|密|口令|비밀/u,
    pattern: new RegExp(`(?<![\\p{L}\\p{N}_])(?<name>${WORD})\\s{0,2}[(„«“"'\`\\s]{1,3}${VALUE}`, 'giu'),
    value: 'strict',
  },
  {
    // admin / X, root:X
    hint: /admin|root|user|test|guest|gast|oracle|postgres/u,
    pattern:
      /(?<![\w./@-])(?<name>admin(?:istrator)?|root|user\d?|test(?:user)?|guest|gast|oracle|postgres)\s{0,2}[/:|]\s{0,2}(?<value>[^\s"'`<>,;(){}[\]/:]{7,64})(?![/:])/giu,
    value: 'strict',
  },
  {
    // curl -u name:X
    hint: /curl|wget|http/u,
    pattern:
      /\b(?:curl|wget|https?ie|http)\b[^\n]{0,200}?\s(?:-u|--user)[ =]?["']?[\w.@+-]{1,64}:(?<value>[^\s"'`]{3,128})/giu,
    value: 'any',
  },
  {
    // mysql -pX: without a space, since with one it is the name of a database.
    hint: /mysql|mariadb/u,
    pattern: /\b(?:mysql|mariadb)\w{0,12}\b[^\n]{0,120}?\s-p(?<value>[^\s"'`-][^\s"'`]{3,127})/giu,
    value: 'any',
  },
  {
    // sshpass -p X, docker login -p X, redis-cli -a X.
    hint: /sshpass|login|twine|redis-cli|ldap|smbclient|mongo|zip|openssl|keytool|htpasswd/u,
    pattern:
      /\b(?:sshpass|(?:docker|podman|skopeo|helm|oc|az|nerdctl|buildah)[\w ]{0,20} login|twine upload|redis-cli|ldap\w{3,8}|smbclient|mongo\w{0,8}|7z|zip|unzip|htpasswd)\b[^\n]{0,160}?\s(?:-p|-a|-P|-w|-y)[ =]?["']?(?<value>[^\s"'`-][^\s"'`]{5,127})/giu,
    value: 'code',
  },
  {
    // --password X, --api-key X
    hint: /--/u,
    pattern:
      /--?(?<name>(?:[a-z]{1,20}-){0,2}(?:pass(?:word|wd|phrase|code)?|api-?key|token|secret|access-key|secret-key|client-secret))[ =]{1,2}["']?(?<value>[^\s"'`<>-][^\s"'`<>]{5,255})/giu,
    value: 'code',
  },
  {
    // <dbPassword>X</dbPassword>
    hint: /<\//u,
    pattern:
      /<(?<name>(?:\w{1,20}:)?[\w.-]{0,40}?(?:password|passwd|passphrase|pwd|secret|api-?key|token))>\s{0,4}(?<value>[^<\s]{6,256})\s{0,4}<\//giu,
    value: 'code',
  },
  {
    // key="SmtpPassword" value="X", and name and value on two lines of YAML or JSON.
    hint: /value/u,
    pattern:
      /(?:key|name)["']?\s{0,2}[=:]\s{0,2}["']?(?<name>[\w.:-]{0,60}?(?:password|passwd|passphrase|pwd|secret|api_?key|token))["']?,?\s{1,40}["']?value["']?\s{0,2}[=:]\s{0,2}["']?(?<value>[^\s"'<>]{6,256})/giu,
    value: 'code',
  },
  {
    // Cookies of sessions.
    hint: /sess|\bsid\b|connect\.sid/u,
    pattern:
      /(?<![\p{L}\p{N}])(?<name>[\w.-]{0,20}(?:session(?:_?id|_?token)?|sessid|connect\.sid)|sid)=(?<value>[\w%+/.:~-]{20,1000}={0,2})/giu,
    value: 'code',
  },
  {
    // A passphrase of several words, in quotes.
    hint: /passphrase|password/u,
    pattern:
      /(?<![\p{L}\p{N}])(?<name>passphrase|password)["']?\s{0,4}[:=]\s{0,4}(?<quote>["'])(?<value>[^"'\n]{3,40} [^"'\n]{0,80}\d[^"'\n]{0,80})\k<quote>/giu,
    value: 'any',
  },
];

/** Technical names that look like passwords: algorithms, encodings, protocols, standards. */
const TECHNICAL =
  /^(?:[a-z]{0,8}(?:base|utf|sha|md|aes|rsa|ed|hs|rs|es|ps|x|oauth|http|tls|ssl|ipv|pbkdf|argon|bcrypt|scrypt|iso|rfc|cve|cwe|pep|fips|nist)[-_.]?v?\d)|^v?\d+(?:[.:/-]\d+)*$|^\d+(?:%|[a-z]{1,3})?$/iu;
const VARIABLE = /^[$%{<&*]/u;

/** Passwords and keys that are shown otherwise than by `name = value`. Linear: every pattern is bounded. */
export function findShownSecrets(text: string, lowerCase = text.toLowerCase()): readonly SecretSpan[] {
  return SHOWINGS.filter(({ hint }) => hint.test(lowerCase)).flatMap(({ pattern, value: asked }) =>
    [...text.matchAll(pattern)].flatMap((match): SecretSpan[] => {
      const { name = 'password', value: matched = '' } = match.groups ?? {};
      const value = asked === 'any' ? matched : matched.replace(/[.:!?]+$/u, '');
      const start = match.index + match[0].lastIndexOf(matched);
      return isShown(asked, name, value) ? [{ start, end: start + value.length, kind: 'credential' }] : [];
    }),
  );
}

function isShown(asked: Showing['value'], name: string, value: string): boolean {
  if (VARIABLE.test(value)) return false;
  switch (asked) {
    case 'any':
      return !/^\d{1,5}$/u.test(value);
    case 'code':
      return isSecretValue(name, value, true);
    case 'prose':
      return value.length >= 8 && classesOf(value) >= 3 && /\d/u.test(value) && !TECHNICAL.test(value);
    case 'strict':
      return (
        value.length >= 7 && /\d/u.test(value) && isMixed(value) && !TECHNICAL.test(value) && !isPath(value)
      );
  }
}

/** Of lower case, upper case, digits, others. */
function classesOf(value: string): number {
  return [/\p{Ll}/u, /\p{Lu}/u, /\d/u, /[^\p{L}\d]/u].filter((set) => set.test(value)).length;
}

/** All three of letters in both cases and digits, or a symbol that names seldom hold. */
function isMixed(value: string): boolean {
  const marked = /[!#$%&*+=?@^~|]/u.test(value) && /\p{L}/u.test(value);
  return marked || (/\p{Ll}/u.test(value) && /\p{Lu}/u.test(value));
}

function isPath(value: string): boolean {
  return /[/\\]|\.\p{L}{1,5}$|@[\w-]+\.|\(\)$/u.test(value);
}
