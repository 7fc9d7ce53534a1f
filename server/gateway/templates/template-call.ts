import type { Call } from '../core/call.ts';
import type { CallConfig, Route } from '../snapshot/model.ts';

/** What is shown of a test request in place of values of secrets. */
export type ShownTest = {
  secrets: ReadonlyMap<string, string>;
  shown: { headers: string[] | null; path: string; body: Buffer | null } | null;
};

/** What templates and signatures for upstreams ask of a call, whatever its plane: the route that it goes by. */
export type TemplateState = {
  route: Route | null;
  environmentName: string;
  config: CallConfig | null;
  /** Of the request target, without `?`; null when there is none. */
  query: string | null;
  test: ShownTest | null;
};

export type TemplateCall = Call<TemplateState>;
