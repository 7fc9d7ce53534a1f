/** A refusal of the service, or of this library before anything was sent. `type` says which; the message says what to do. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly type: string;
  readonly status: number | null;
  readonly request_id: string | null;

  constructor(
    type: string,
    message: string,
    { status = null, request_id = null }: { status?: number | null; request_id?: string | null } = {},
  ) {
    super(message);
    this.type = type;
    this.status = status;
    this.request_id = request_id;
  }
}
