import { pipeline, Readable, Transform } from 'node:stream';
import type { PipelinePolicy } from '@azure/core-rest-pipeline';

/** What a KMS, or the directory that gives tokens for it, may answer: a wrapped key and a token have a few KiB. */
export const MOST_ANSWER_BYTES = 64 * 1024;

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** For clients of AWS's SDK, which collect an answer of any size: one over the limit breaks off while it is read. */
export const limitAnswers =
  <A, R extends { response: unknown }>(next: (args: A) => Promise<R>) =>
  async (args: A): Promise<R> => {
    const result = await next(args);
    const response = result.response as { body?: unknown };
    if (response.body instanceof Readable) response.body = limited(response.body);
    return result;
  };
/** Before the answer is parsed. */
export const WHERE_LIMITED = { step: 'deserialize', priority: 'low' } as const;

function limited(body: Readable): Readable {
  let left = MOST_ANSWER_BYTES;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      done(left < 0 ? new AnswerTooLarge() : null, chunk);
    },
  });
  return pipeline(body, counted, () => undefined); // whoever reads it gets the error
}

/** The same for clients of Azure's SDK. */
export const answerLimitPolicy: PipelinePolicy = {
  name: 'answerLimit',
  sendRequest(request, next) {
    const ended = new AbortController();
    request.abortSignal = request.abortSignal ? AbortSignal.any([request.abortSignal as AbortSignal, ended.signal]) : ended.signal;
    request.onDownloadProgress = ({ loadedBytes }) => {
      if (loadedBytes <= MOST_ANSWER_BYTES) return;
      ended.abort(); // or the connection would stay open, unread
      throw new AnswerTooLarge();
    };
    return next(request);
  },
};
