import { z } from 'zod';
import { type ConfigField, text } from './config-field.js';

const address = z.string().regex(/^https?:\/\/./);
const visible = z.string().regex(/^[\x21-\x7e]+$/);

/** Of models that other machines serve: `openai:`, `cohere:`, `jina:` and `voyage:` names. */
export const hostedFields: readonly ConfigField[] = (
  [
    ['embedder', 'EMBEDDER'],
    ['reranker', 'RERANKER'],
  ] as const
).flatMap(([key, env]): ConfigField[] => [
  {
    key: `${key}Url`,
    env: `ERRATA_${env}_URL`,
    flag: `${key}-url`,
    placeholder: 'url',
    default: 'the service’s own',
    fallback: undefined,
    description: `where the hosted ${key} is, up to /v1: a server of your own, a gateway`,
    expected: 'an address that starts with http:// or https://',
    schema: address,
  },
  {
    key: `${key}Key`,
    env: `ERRATA_${env}_KEY`,
    placeholder: 'key',
    default: 'none',
    fallback: undefined,
    description: `API key of the hosted ${key}`,
    expected: 'visible ASCII characters',
    schema: visible,
    secret: true,
  },
]);

/** The standard variables, for downloads and hosted models. */
export const proxyFields: readonly ConfigField[] = (
  [
    ['https', 'HTTPS_PROXY', 'proxy for https addresses'],
    ['http', 'HTTP_PROXY', 'proxy for http addresses'],
    ['bypass', 'NO_PROXY', 'hosts that are reached directly, with commas between'],
  ] as const
).map(([key, env, description]) => ({
  key: `proxies.${key}`,
  env,
  aliases: [env.toLowerCase()],
  placeholder: 'url',
  default: 'none',
  fallback: undefined,
  description,
  expected: key === 'bypass' ? 'host names' : 'an address',
  // Forms are judged where a proxy is used: other programs' settings must not keep Errata from starting.
  schema: text,
  secret: true,
}));
