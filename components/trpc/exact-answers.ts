import { parseExact } from '#server/kernel/lossless-json.ts';

/** `fetch` whose answers keep the digits of numbers, for forms that send back what they were shown. Inputs with such numbers write themselves. */
export async function fetchExact(input: RequestInfo | URL | string, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  return Object.assign(response, { json: async () => parseExact(await response.text()) });
}
