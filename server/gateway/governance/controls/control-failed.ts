import type { AiCode } from '#server/ai/codes.ts';

/** A control that can't run, or that ends a stream: by its code the call is refused, or the stream is cut with it as the cause. */
export class ControlFailed extends Error {
  readonly code: AiCode;

  constructor(code: AiCode, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}
