/** Numbers of a compact JSON text that a double may change, of many digits, with an exponent or with a last zero, and names that an engine may move. Few answers have any. */
const MAY_CHANGE = /[:,[]-?(?:[\d.]{16}|[\d.]+e|\d+\.\d*0[,\]}]|0\.0{5})|[:,[]-0[,\]}]|[{,]"\d{1,10}":/i;

/** `fetch` whose answers keep the digits of numbers and the order of names, for forms that send back what they were shown. Inputs with such numbers write themselves. */
export async function fetchExact(input: RequestInfo | URL | string, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  return Object.assign(response, { json: async () => parsed(await response.text()) });
}

/** The reader of such answers comes when there are some. */
async function parsed(text: string): Promise<unknown> {
  if (!MAY_CHANGE.test(text)) return JSON.parse(text);
  const { parseExact } = await import('#server/kernel/lossless-json.ts');
  return parseExact(text);
}
