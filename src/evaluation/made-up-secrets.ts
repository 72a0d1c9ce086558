import { createHash } from 'node:crypto';

/** Characters that look random but are the same every run. */
export type Noise = (length: number, alphabet: string) => string;

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const ALNUM = LOWER + UPPER + DIGITS;
const HEX = `${DIGITS}abcdef`;
const BASE32 = `${UPPER}234567`;
const BASE64 = `${ALNUM}+/`;
const URL_SAFE = `${ALNUM}-_`;

type Form = (noise: Noise, variant: string | undefined) => string;
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
/** A token must hold a digit and a letter wherever it is cut. */
const mixed = (noise: Noise, length: number): string => `${noise(length - 2, ALNUM)}7k`;

const FORMS: Readonly<Record<string, Form>> = {
  'aws-access-key': (noise) => `AKIA${noise(16, BASE32)}`,
  'aws-secret-key': (noise) => noise(40, BASE64),
  'gcp-api-key': (noise) => `AIza${noise(35, URL_SAFE.replace('-', ''))}`,
  'gcp-oauth-token': (noise) => `ya29.${noise(70, ALNUM)}`,
  'gcp-client-secret': (noise) => `GOCSPX-${noise(28, ALNUM)}`,
  'azure-client-secret': (noise) => `${noise(3, ALNUM)}8Q~${noise(34, ALNUM)}`,
  'azure-storage-key': (noise) => `${noise(86, BASE64)}==`,
  'azure-sas': (noise) => `${noise(43, ALNUM)}%3D`,
  'github-token': (noise, variant) =>
    variant === 'pat'
      ? `github_pat_${noise(22, ALNUM)}_${noise(59, ALNUM)}`
      : `gh${variant === 'server' ? 's' : 'p'}_${noise(36, ALNUM)}`,
  'gitlab-token': (noise) => `glpat-${noise(20, ALNUM)}`,
  'slack-token': (noise, variant) =>
    variant === 'app'
      ? `xapp-1-${noise(11, UPPER + DIGITS)}-${noise(13, DIGITS)}-${noise(64, HEX)}`
      : `xoxb-${noise(12, DIGITS)}-${noise(13, DIGITS)}-${noise(24, ALNUM)}`,
  'slack-webhook': (noise) => `T${noise(8, UPPER + DIGITS)}/B${noise(8, UPPER + DIGITS)}/${noise(24, ALNUM)}`,
  'stripe-key': (noise, variant) =>
    `${variant === 'whsec' ? 'whsec_' : variant === 'restricted' ? 'rk_live_' : 'sk_live_'}${noise(32, ALNUM)}`,
  'anthropic-key': (noise) => `sk-ant-api03-${noise(90, URL_SAFE)}AA`,
  'openai-key': (noise, variant) => `sk-${variant === 'project' ? 'proj-' : ''}${mixed(noise, 48)}`,
  'hugging-face-token': (noise) => `hf_${noise(34, LOWER + UPPER)}`,
  'npm-token': (noise) => `npm_${noise(36, ALNUM)}`,
  'pypi-token': (noise) => `pypi-AgEIcHlwaS5vcmc${noise(130, URL_SAFE)}`,
  'rubygems-key': (noise) => `rubygems_${noise(48, HEX)}`,
  'docker-token': (noise) => `dckr_pat_${noise(27, URL_SAFE)}`,
  'sendgrid-key': (noise) => `SG.${noise(22, ALNUM)}.${noise(43, ALNUM)}`,
  'twilio-key': (noise) => `SK${noise(32, HEX)}`,
  'mailgun-key': (noise) => `key-${noise(32, HEX)}`,
  'mailchimp-key': (noise) => `${noise(32, HEX)}-us21`,
  'digitalocean-token': (noise) => `dop_v1_${noise(64, HEX)}`,
  'shopify-token': (noise) => `shpat_${noise(32, HEX)}`,
  'square-token': (noise) => `sq0atp-${noise(22, URL_SAFE)}`,
  'telegram-token': (noise) => `${noise(10, '123456789')}:AA${noise(33, URL_SAFE)}`,
  'discord-token': (noise) => `M${noise(23, ALNUM)}.${noise(6, ALNUM)}.${noise(38, ALNUM)}`,
  'discord-webhook': (noise) => noise(68, URL_SAFE),
  'databricks-token': (noise) => `dapi${noise(32, HEX)}`,
  'vault-token': (noise) => `hvs.${noise(92, ALNUM)}`,
  'terraform-token': (noise) => `${noise(14, ALNUM)}.atlasv1.${noise(67, ALNUM)}`,
  'linear-key': (noise) => `lin_api_${noise(40, ALNUM)}`,
  'notion-token': (noise) => `ntn_${noise(46, ALNUM)}`,
  'new-relic-key': (noise) => `NRAK-${noise(27, UPPER + DIGITS)}`,
  'grafana-token': (noise) => `glsa_${noise(32, ALNUM)}_${noise(8, HEX)}`,
  'postman-key': (noise) => `PMAK-${noise(24, HEX)}-${noise(34, HEX)}`,
  'planetscale-token': (noise) => `pscale_tkn_${noise(43, URL_SAFE)}`,
  'supabase-token': (noise) => `sbp_${noise(40, HEX)}`,
  'sentry-token': (noise) => `sntrys_${noise(80, ALNUM)}`,
  'doppler-token': (noise) => `dp.pt.${noise(43, ALNUM)}`,
  'groq-key': (noise) => `gsk_${noise(52, ALNUM)}`,
  'replicate-token': (noise) => `r8_${noise(37, ALNUM)}`,
  'age-key': (noise) => `AGE-SECRET-KEY-1${noise(58, UPPER + DIGITS)}`,
  'errata-key': (noise) => `errata_${noise(43, URL_SAFE)}`,
  jwt: (noise) =>
    `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(`{"sub":"${noise(6, DIGITS)}","adm":true}`)}.${noise(43, URL_SAFE)}`,
  'private-key': privateKey,
  'basic-credentials': (noise) => Buffer.from(`svc:${noise(14, ALNUM)}`).toString('base64'),
  'bearer-token': (noise) => mixed(noise, 44),
  credential: (noise, variant) => CREDENTIALS[variant ?? '']?.(noise) ?? variant ?? noise(24, ALNUM),
  'url-password': (_noise, variant) => variant ?? '',
  email: (_noise, variant) => variant ?? '',
  'card-number': (noise, variant) => cardNumber(noise, variant ?? 'visa'),
  iban: (noise, variant) => iban(noise, variant ?? 'DE'),
};

const CREDENTIALS: Readonly<Record<string, (noise: Noise) => string>> = {
  session: (noise) => noise(160, BASE64),
  django: (noise) => `${noise(40, ALNUM)}!@#$%`.slice(0, 44),
  hex64: (noise) => noise(64, HEX),
  hex40: (noise) => noise(40, HEX),
  base64: (noise) => `${noise(43, BASE64)}=`,
  alnum20: (noise) => mixed(noise, 20),
  alnum24: (noise) => mixed(noise, 24),
  alnum32: (noise) => mixed(noise, 32),
  alnum40: (noise) => mixed(noise, 40),
};

/** A secret that is nobody's, the same for the same seed; undefined for an unknown kind. */
export function madeUpSecret(kind: string, variant: string | undefined, seed: string): string | undefined {
  return Object.hasOwn(FORMS, kind) ? FORMS[kind]?.(noiseOf(seed), variant) : undefined;
}

function noiseOf(seed: string): Noise {
  let [round, pool] = [0, Buffer.alloc(0)];
  return (length, alphabet) => {
    let made = '';
    while (made.length < length) {
      if (pool.length === 0) {
        pool = createHash('sha256').update(`${seed} ${round}`).digest();
        round += 1;
      }
      made += alphabet[(pool[0] ?? 0) % alphabet.length];
      pool = pool.subarray(1);
    }
    return made;
  };
}

function privateKey(noise: Noise, variant: string | undefined): string {
  const title = variant === 'escaped' || variant === undefined ? '' : `${variant} `;
  // In two parts: no file of the project may look like a key.
  const mark = (word: string): string => `-----${word} ${title}PRIVATE ${'KEY'}-----`;
  const lines = [mark('BEGIN'), noise(64, BASE64), noise(64, BASE64), `${noise(42, BASE64)}==`, mark('END')];
  return lines.join(variant === 'escaped' ? '\\n' : '\n');
}

const CARD_PREFIXES: Readonly<Record<string, readonly [prefix: string, length: number]>> = {
  visa: ['4539', 16],
  mastercard: ['5412', 16],
  amex: ['3712', 15],
  discover: ['6011', 16],
};

function cardNumber(noise: Noise, variant: string): string {
  const [issuer = 'visa', style] = variant.split('-');
  const [prefix, length] = CARD_PREFIXES[issuer] ?? ['4539', 16];
  const body = prefix + noise(length - prefix.length - 1, DIGITS);
  const digits = body + luhnDigit(body);
  const groups = length === 15 ? /^(.{4})(.{6})(.{5})$/u : /^(.{4})(.{4})(.{4})(.{4})$/u;
  if (style === undefined) return digits;
  return (groups.exec(digits)?.slice(1) ?? [digits]).join(style === 'dashed' ? '-' : ' ');
}

function luhnDigit(body: string): string {
  let sum = 0;
  [...body].reverse().forEach((digit, index) => {
    const value = index % 2 === 0 ? 2 * Number(digit) : Number(digit);
    sum += value > 9 ? value - 9 : value;
  });
  return String((10 - (sum % 10)) % 10);
}

const IBAN_BODIES: Readonly<Record<string, (noise: Noise) => string>> = {
  DE: (noise) => noise(18, DIGITS),
  AT: (noise) => noise(16, DIGITS),
  CH: (noise) => noise(17, DIGITS),
  FR: (noise) => noise(23, DIGITS),
  GB: (noise) => noise(4, UPPER) + noise(14, DIGITS),
  NL: (noise) => noise(4, UPPER) + noise(10, DIGITS),
  ES: (noise) => noise(20, DIGITS),
  BE: (noise) => noise(12, DIGITS),
  PL: (noise) => noise(24, DIGITS),
};

function iban(noise: Noise, variant: string): string {
  const [country = 'DE', style] = variant.split('-');
  const body = IBAN_BODIES[country]?.(noise) ?? noise(18, DIGITS);
  const number = [...`${body}${country}00`].map((character) => Number.parseInt(character, 36)).join('');
  const check = String(98n - (BigInt(number) % 97n)).padStart(2, '0');
  const plain = country + check + body;
  return style === 'spaced' ? (plain.match(/.{1,4}/gu) ?? []).join(' ') : plain;
}
