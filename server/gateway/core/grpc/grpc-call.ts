/** What a call of gRPC says of itself. */
export type Grpc = {
  /** How long the caller waits for the whole call, in milliseconds; null: as long as the route does. */
  readonly timeoutMs: number | null;
  /** What follows the upstream's answer, once it has come. */
  trailers: [string, string][] | null;
  /** Ends the watch over what it was admitted by. */
  unwatch: (() => void) | null;
};
