// A GraphQL client in twenty lines: all that a caller of Errata needs.
const url = process.env.ERRATA_URL ?? 'http://127.0.0.1:4000';

/** Sends one operation. Throws with the stable code of the first error (`extensions.code`). */
export async function graphql(query, variables) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.ERRATA_KEY}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors?.length > 0) {
    const [{ message, extensions }] = errors;
    throw Object.assign(new Error(message), { code: extensions?.code });
  }
  return data;
}
