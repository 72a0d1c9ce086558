/** The process's environment as a plain record: the only place of the product that reads it. Empty values count as unset. */
export function readEnvironment(): Readonly<Record<string, string>> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return Object.fromEntries(entries);
}
