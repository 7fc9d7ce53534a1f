/** What has come of an answer so far. */
export type Answer = {
  text: string;
  model: string | undefined;
  finish: string | undefined;
  input_tokens: number | undefined;
  output_tokens: number | undefined;
  /** The plane's own words when it ended the stream or refused the call. */
  refusal: Refused | undefined;
};
/** `retry_at`: when it may succeed, such as when a budget starts again. */
export type Refused = { code: string; message: string; retry_at: string | undefined };

export const NOTHING: Answer = {
  text: '',
  model: undefined,
  finish: undefined,
  input_tokens: undefined,
  output_tokens: undefined,
  refusal: undefined,
};

type Json = Record<string, unknown>;
const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** One event of a chat completion, added to what is known. */
export function withChunk(answer: Answer, chunk: unknown): Answer {
  const event = objectOf(chunk);
  const refusal = refusalOf(event);
  if (refusal) return { ...answer, refusal };
  const choice = objectOf((Array.isArray(event.choices) ? event.choices : [])[0]);
  const part = objectOf(choice.delta ?? choice.message);
  const usage = objectOf(event.usage);
  return {
    ...answer,
    text: answer.text + textOf(part.content),
    model: textOf(event.model) || answer.model,
    finish: textOf(choice.finish_reason) || answer.finish,
    input_tokens: numberOf(usage.prompt_tokens) ?? answer.input_tokens,
    output_tokens: numberOf(usage.completion_tokens) ?? answer.output_tokens,
  };
}

/** A refusal, of the plane ({error, error_description}), the dashboard ({error: {code, message}}) or a provider. */
export function refusalOf(body: unknown, retryAfter?: string | null, now = Date.now()): Refused | undefined {
  const { error, error_description, code } = objectOf(body) as { error?: unknown; error_description?: unknown; code?: unknown };
  if (error === undefined || error === null) return undefined;
  const inner = objectOf(error);
  const retry_at = retryAfter && /^\d+$/.test(retryAfter) ? new Date(now + Number(retryAfter) * 1_000).toISOString() : undefined;
  return {
    code: textOf(error) || textOf(inner.code) || textOf(inner.type) || textOf(code) || 'error',
    message: textOf(error_description) || textOf(inner.message) || 'The call failed.',
    retry_at,
  };
}

/** Takes the data of server-sent events out of text that comes in pieces. */
export function eventReader(onData: (data: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) onData(line.slice(5).trim());
  };
}
