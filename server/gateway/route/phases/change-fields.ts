import { paced } from '#server/kernel/slices.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { FieldSide } from '../../snapshot/field-actions.ts';
import { bodyActions } from '../fields/media.ts';
import { redactedPicks, redactedQuery } from '../fields/redacted.ts';
import { type Changed, changeRequest, isPlain, readingOf, requestLines } from '../fields/request.ts';
import type { RouteCall } from '../route-call.ts';
import type { TestRequest } from '../test-requests/test-request.ts';

/** Step 11: the route's field actions, over the request as its templates left it and before it is signed for the upstream (interface rule 10 §8). */
export function changeFields(call: RouteCall, runtime: Runtime): PhaseResult | Promise<PhaseResult> {
  const { config, test } = call.state;
  if (!config?.fields) return undefined;
  const { request, response } = config.fields;
  if (response?.body.size) {
    call.injectedHeaders = identityOnly(call.injectedHeaders);
    if (test?.shown) test.shown.headers = identityOnly(test.shown.headers);
  }
  if (request === null) return undefined;
  if (call.streamsBody && readingOf(call, request, false) === 'lines') call.lineEdit = requestLines(call, runtime, request);
  const { injectedHeaders: headers, upstreamPath: path, body } = call;
  return changeRequest(call, runtime, request, { headers, path, body, contentType: typeOf(call) }).then(async (changed) => {
    if ('code' in changed) return changed;
    call.injectedHeaders = changed.headers;
    call.upstreamPath = changed.path;
    const { pieces } = changed;
    if (pieces !== null) {
      call.body = pieces.length === 1 ? (pieces[0] as Buffer) : null;
      if (pieces.length > 1) call.bodyPieces = pieces;
    }
    if (test?.shown) test.shown = await shownFields(call, request, test.shown, changed);
    return undefined;
  });
}

/** An empty body that became an injected one has the type that was injected with it. */
function typeOf({ contentType, injectedHeaders }: RouteCall): string {
  if (contentType !== '') return contentType;
  const at = (injectedHeaders ?? []).findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === 'content-type');
  return at < 0 ? '' : (injectedHeaders?.[at + 1] ?? '');
}

/** An answer that comes compressed can't be looked into. */
const identityOnly = (headers: readonly string[] | null): string[] => [
  ...(headers ?? []).filter((_, i, all) => all[i - (i % 2)]?.toLowerCase() !== 'accept-encoding'),
  'Accept-Encoding',
  'identity',
];

type Shown = NonNullable<TestRequest['shown']>;

/** What a test shows of the request: what field actions made of it, and where secrets of templates are, the templates' own marks. */
async function shownFields(call: RouteCall, side: FieldSide, masked: Shown, { shown }: Changed): Promise<Shown> {
  if (call.secretsUsed === null) return shown;
  const templated = call.injected?.some((place) => place.startsWith('body')) ?? false;
  const mark = masked.path.indexOf('?');
  const headers = (masked.headers ?? []).map((text, i, all) =>
    i % 2 === 1 && side.headerNames.has(hyphenated((all[i - 1] as string).toLowerCase())) ? HIDDEN : text,
  );
  const found = bodyActions(side, call.contentType, isPlain(call));
  const body = !templated || !found || !masked.body ? shown.body : await paced(redactedPicks(found, masked.body), masked.body.length);
  const query = mark < 0 ? '' : `?${redactedQuery(side.query, masked.path.slice(mark + 1))}`;
  return { headers, path: `${mark < 0 ? masked.path : masked.path.slice(0, mark)}${query}`, body };
}
const HIDDEN = '[redacted]';
