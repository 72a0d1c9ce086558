import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import { ErrataError } from '../../domain/errors.js';

/** As HTTP_PROXY, HTTPS_PROXY and NO_PROXY say; none: no proxy for that scheme. */
export interface ProxySettings {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /** Hosts, domains and ports, with commas between, that are reached directly; `*` for all. */
  readonly bypass?: string | undefined;
}

/**
 * `fetch` through the configured proxies: Node's own knows none before version 24. Without proxies it is Node's own.
 *
 * Errors: `INVALID_CONFIG` for a proxy address that is no URL; its text may hold a password and is not shown.
 */
export function createProxyFetch(proxies: ProxySettings | undefined): typeof fetch {
  if (proxies?.http === undefined && proxies?.https === undefined) return fetch;
  const http = proxyAddress('HTTP_PROXY', proxies.http);
  const https = proxyAddress('HTTPS_PROXY', proxies.https);
  const { bypass = '' } = proxies;
  // Empty texts, since undefined ones would be read from the environment behind our back.
  const dispatcher = new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy: bypass });
  const through = (url: Parameters<typeof undiciFetch>[0], init: Parameters<typeof undiciFetch>[1] = {}) =>
    undiciFetch(url, { ...init, dispatcher });
  // Node's and undici's declarations of the same function differ in details of streams.
  return through as unknown as typeof fetch;
}

/** `host:port` means http, as elsewhere. */
function proxyAddress(name: string, address = ''): string {
  const full = address === '' || address.includes('://') ? address : `http://${address}`;
  if (full === '' || (/^https?:/.test(full) && URL.canParse(full))) return full;
  throw new ErrataError(
    'INVALID_CONFIG',
    `Expected http://host:port or https://host:port for ${name}, received another address (not shown)`,
  );
}
