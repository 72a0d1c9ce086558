/** Letters and digits that look random but are the same every run; no scanner sees a secret in this file. */
function noise(length: number, alphabet: string, seed = 7): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)];
  }).join('');
}
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALNUM = LOWER + LOWER.toUpperCase() + DIGITS;
const HEX = '0123456789abcdef';
const UPPER32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const join = (...parts: string[]): string => parts.join('');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

const pem = (kind: string): string =>
  [
    join('-----BEGIN ', kind, 'PRIVATE', ' KEY-----'),
    noise(64, ALNUM, 3),
    noise(64, ALNUM, 4),
    `${noise(30, ALNUM, 5)}==`,
    join('-----END ', kind, 'PRIVATE', ' KEY-----'),
  ].join('\n');

/** Secret by kind, assembled at run time. */
export const SECRETS: readonly (readonly [kind: string, secret: string])[] = [
  ['private-key', pem('RSA ')],
  ['private-key', pem('')],
  ['private-key', pem('OPENSSH ')],
  [
    'jwt',
    join(
      base64url('{"alg":"HS256","typ":"JWT"}'),
      '.',
      base64url('{"sub":"42","name":"x"}'),
      '.',
      noise(43, ALNUM),
    ),
  ],
  ['aws-access-key', join('AK', 'IA', noise(16, UPPER32))],
  ['aws-access-key', join('AS', 'IA', noise(16, UPPER32, 9))],
  ['gcp-api-key', join('AI', 'za', noise(35, ALNUM))],
  ['gcp-oauth-token', join('ya', '29.', noise(60, ALNUM))],
  ['gcp-client-secret', join('GOC', 'SPX-', noise(28, ALNUM))],
  ['azure-client-secret', join(noise(3, ALNUM), '8', 'Q~', noise(34, ALNUM))],
  ['github-token', join('gh', 'p_', noise(36, ALNUM))],
  ['github-token', join('github', '_pat_', noise(22, ALNUM), '_', noise(59, ALNUM))],
  ['gitlab-token', join('gl', 'pat-', noise(20, ALNUM))],
  ['slack-token', join('xo', 'xb-', noise(12, DIGITS), '-', noise(24, ALNUM))],
  ['stripe-key', join('sk', '_live_', noise(24, ALNUM))],
  ['stripe-key', join('whs', 'ec_', noise(32, ALNUM))],
  ['anthropic-key', join('sk-', 'ant-', noise(80, ALNUM))],
  ['openai-key', join('sk-', 'proj-', noise(60, ALNUM))],
  ['openai-key', join('sk', '-', noise(48, ALNUM))],
  ['hugging-face-token', join('h', 'f_', noise(34, LOWER))],
  ['npm-token', join('np', 'm_', noise(36, ALNUM))],
  ['pypi-token', join('py', 'pi-Ag', noise(80, ALNUM))],
  ['rubygems-key', join('ruby', 'gems_', noise(48, HEX))],
  ['docker-token', join('dck', 'r_pat_', noise(27, ALNUM))],
  ['sendgrid-key', join('S', 'G.', noise(22, ALNUM), '.', noise(43, ALNUM))],
  ['twilio-key', join('S', 'K', noise(32, HEX))],
  ['mailgun-key', join('ke', 'y-', noise(32, HEX))],
  ['mailchimp-key', join(noise(32, HEX), '-us', '12')],
  ['digitalocean-token', join('do', 'p_v1_', noise(64, HEX))],
  ['shopify-token', join('sh', 'pat_', noise(32, HEX))],
  ['square-token', join('sq', '0atp-', noise(22, ALNUM))],
  ['telegram-token', join(noise(10, '123456789'), ':A', 'A', noise(33, ALNUM))],
  ['databricks-token', join('da', 'pi', noise(32, HEX))],
  ['vault-token', join('hv', 's.', noise(90, ALNUM))],
  ['terraform-token', join(noise(14, ALNUM), '.atlas', 'v1.', noise(67, ALNUM))],
  ['linear-key', join('lin', '_api_', noise(40, ALNUM))],
  ['notion-token', join('nt', 'n_', noise(46, ALNUM))],
  ['new-relic-key', join('NR', 'AK-', noise(27, UPPER32))],
  ['grafana-token', join('gl', 'sa_', noise(32, ALNUM), '_', noise(8, HEX))],
  ['postman-key', join('PM', 'AK-', noise(24, HEX), '-', noise(34, HEX))],
  ['planetscale-token', join('psc', 'ale_tkn_', noise(43, ALNUM))],
  ['supabase-token', join('sb', 'p_', noise(40, HEX))],
  ['doppler-token', join('dp', '.pt.', noise(43, ALNUM))],
  ['groq-key', join('gs', 'k_', noise(52, ALNUM))],
  ['replicate-token', join('r', '8_', noise(37, ALNUM))],
  ['age-key', join('AGE-SECRET', '-KEY-1', noise(58, UPPER32))],
];

const password = join('hunter', '2', 'Pass!');
const storageKey = `${noise(86, ALNUM)}==`;
const hexKey = noise(40, HEX, 11);

/** Text, the part of it that must go, and the kind. */
export const IN_CONTEXT: readonly (readonly [kind: string, text: string, secret: string])[] = [
  ['url-password', `postgres://app:${password}@db.internal:5432/ledger`, password],
  ['url-password', `mongodb+srv://root:${password}@cluster0.example.net/?retryWrites=true`, password],
  ['url-password', `redis://:${password}@cache:6379`, password],
  ['url-password', `curl https://bob:${password}@git.internal/repo.git`, password],
  [
    'azure-storage-key',
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${storageKey};x=y`,
    storageKey,
  ],
  [
    'azure-sas',
    `https://a.blob.core.windows.net/c?sv=2022-11-02&sig=${noise(44, ALNUM)}%3D`,
    noise(44, ALNUM),
  ],
  [
    'slack-webhook',
    `https://hooks.slack.com/services/T${noise(8, UPPER32)}/B0/${noise(24, ALNUM)}`,
    noise(24, ALNUM),
  ],
  ['aws-secret-key', `aws_secret_access_key = ${noise(40, ALNUM, 21)}`, noise(40, ALNUM, 21)],
  ['bearer-token', `Authorization: Bearer ${noise(40, ALNUM, 5)}`, noise(40, ALNUM, 5)],
  [
    'basic-credentials',
    `Authorization: Basic ${Buffer.from(`bob:${password}`).toString('base64')}`,
    Buffer.from(`bob:${password}`).toString('base64'),
  ],
  ['credential', `Server=db;User Id=sa;Password=${password};Encrypt=true`, password],
  ['credential', `DB_PASSWORD="${password}"`, password],
  ['credential', `secret: ${noise(24, ALNUM, 8)}`, noise(24, ALNUM, 8)],
  ['credential', `"api_key": "${hexKey}"`, hexKey],
  ['credential', `const apiKey = '${noise(20, ALNUM, 13)}';`, noise(20, ALNUM, 13)],
  ['credential', `client.login("token", "${noise(24, ALNUM, 14)}")`, noise(24, ALNUM, 14)],
  ['credential', `password=Sommer${2000 + 25}`, `Sommer${2000 + 25}`],
];

/** Nothing in these is secret. */
export const HARMLESS: readonly string[] = [
  'Commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b broke the build.',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'The request id is 550e8400-e29b-41d4-a716-446655440000.',
  '"integrity": "sha512-z5T6QmHkYV1dG7W2m0sJkq3M0mYF8mJx0o2B3c4d5e6f7g8h9i0jk1l2m3n4o5p6q7r8s9t0uvw=="',
  'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
  'MD5 d41d8cd98f00b204e9800998ecf8427e is the empty file.',
  'token: 550e8400-e29b-41d4-a716-446655440000',
  'PASSWORD_FIELD = "password"',
  'static final String PASSWORD_PARAM = "passwd";',
  'password: the user must type it twice',
  'password = getPassword()',
  'password: process.env.DB_PASSWORD',
  'secret: \u0024{{ secrets.NPM_TOKEN }}',
  'api_key=$API_KEY',
  'password=changeme',
  'password=<your-password>',
  'apiKey: "xxxxxxxxxxxxxxxx"',
  'max_tokens=4096, tokens: 128000',
  'tokenizer: bert-base-uncased-v2',
  'postgres://user:password@localhost/db is the documented default.',
  'postgres://\u0024{USER}:\u0024{PASS}@host/db',
  'https://example.com:8080/path and mail to bob@example.com',
  'See http://localhost:3000/a?b=c@d',
  'The access key id AKIAIOSFODNN7EXAMPLE comes from the AWS documentation.',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'Flagged `-----BEGIN PRIVATE KEY-----` in the docs; there is no key after it, only the words that explain the format.',
  'sk-learn and sk-image-processing-with-python are libraries',
  'key-value stores, token-based login, secret-sharing schemes',
  'basic understanding of bearer instruments',
  'pypi-server, npm_config_registry, hf_hub_download',
  'CVE-2021-44228 affects log4j-core 2.14.1',
  'The private key is stored in the HSM.',
  'password_hash: $2b$12$abcdefghijklmnopqrstuv',
  'secretary: Anna Schmidt',
  '[REDACTED:github-token:1] and password=[REDACTED:credential:2]',
];
