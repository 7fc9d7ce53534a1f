import { codeOf } from '#components/shell/call-code.ts';
import { curlOf } from '#components/shell/curl.ts';
import { LANGUAGES } from '#components/shell/languages.ts';
import type { Snippet } from '#components/ui/code-block.tsx';
import type { CallSnippet } from './addressing.ts';

/** A call through the gateway in each language; in curl alone when no other language sends it the same way. */
export function callSnippets(call: CallSnippet): readonly [Snippet, ...Snippet[]] {
  const whole = { ...call, method: call.method ?? 'GET' };
  const curlOnly = call.options !== undefined || (/^(?:GET|HEAD)$/.test(whole.method) && call.text !== undefined);
  return curlOnly ? [{ ...LANGUAGES[0], code: curlOf(whole) }] : codeOf(whole);
}
