export const PEER_NAMES: readonly string[];
export function peerFolder(name: string): string;
export function whyUnavailable(name: string): Promise<string | undefined>;
export function buildPeer(
  name: string,
  options?: { force?: boolean; log?: (line: string) => void },
): Promise<string>;
