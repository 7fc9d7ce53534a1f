import { redactedMark } from '#server/custody/redaction/redaction.ts';
import { paced, type Steps } from '#server/kernel/slices.ts';
import { refuseGrpcConfig } from '../../core/grpc/grpc.ts';
import { acceptBody } from '../../core/listener.ts';
import { rewritesBody } from '../../core/methods.ts';
import type { PhaseResult } from '../../core/plane.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { readBody, STREAMED_LIMIT } from '../../core/request-body.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { CallConfig } from '../../snapshot/model.ts';
import { injectBody, renderBody } from '../../templates/body-inject.ts';
import { SCAN_LIMIT, type Scan, scanBody, scannable, writeBody } from '../../templates/body-scan.ts';
import { injectHeaders, withQuery } from '../../templates/inject.ts';
import { formEncode } from '../../templates/render.ts';
import { renewalOf } from '../../templates/renewal.ts';
import { newResolution, type Resolution } from '../../templates/resolution.ts';
import { resolve } from '../../templates/resolve.ts';
import { scrubAnswer } from '../../templates/scrubbed-answer.ts';
import { chooseTarget, egressAllowed, setTarget } from '../../templates/target.ts';
import { signsBody } from '../../upstream-auth/sign.ts';
import { fitsFields, keepRequest, readingOf } from '../fields/request.ts';
import { answerEdit } from '../fields/response.ts';
import type { RouteCall } from '../route-call.ts';

type Result = PhaseResult | Promise<PhaseResult>;

const BUFFERED_LIMIT = 10 * 1024 * 1024;
const REPLAYABLE = 1024 * 1024;
/** Shorter bodies are always read first: that costs less than a stream, and leaves the call repeatable. */
const SMALL = 64 * 1024;

/** Step 11: body when anything must read it, target, placeholders, injection. Nothing has been sent when this refuses. */
export function rewrite(call: RouteCall, runtime: Runtime): Result {
  const config = call.state.config;
  if (!config) return refused('internal_error', 'The route has no configuration.');
  if (config.malformed !== null) return refused('template_invalid', `A template in this route ${config.malformed}.`);
  const misfit = call.grpc === null ? undefined : refuseGrpcConfig(config, signsBody(config));
  if (misfit) return misfit;
  if (config.fields !== null) {
    const unfit = fitsFields(call);
    if (unfit) return unfit;
    const { response } = config.fields;
    if (response) call.answerEdit = answerEdit(call, runtime, response);
    if (response?.body.size) call.wholeAnswer = true;
  }
  return after(takeBody(call, runtime, config), () => compose(call, runtime, config));
}

const after = (first: Result, next: () => Result): Result =>
  first instanceof Promise ? first.then((refusal) => refusal ?? next()) : (first ?? next());

/** Decides between reading the body and letting it stream. */
function takeBody(call: RouteCall, runtime: Runtime, config: CallConfig): Result {
  const length = call.state.bodyRead ? (call.body?.length ?? 0) : call.contentLength;
  const rewritable = rewritesBody(call.method);
  const injects = config.body !== null && rewritable;
  const signs = signsBody(config);
  if (length === 0) return undefined;
  const reading = config.fields?.request ? readingOf(call, config.fields.request, injects || signs) : 'unread';
  if (typeof reading === 'object') return reading;
  const encoded = call.contentEncoding !== '' && call.contentEncoding !== 'identity';
  if (injects && encoded)
    return refused('unsupported_media_type', 'This route injects values into the body, so the request body must not be compressed.');
  const scans = rewritable && config.bodyPlaceholders !== 'off' && !encoded && scannable(call.contentType) !== undefined;
  const small = length > 0 && length <= (config.retryAttempts > 0 ? REPLAYABLE : SMALL);
  // Read for its signature already.
  if (call.state.bodyRead) return scans && length > SCAN_LIMIT && call.body?.includes('{{secret') ? tooLarge(SCANNED) : undefined;
  if (reading === 'lines') return stream(call);
  const whole = injects || signs || reading === 'whole';
  if (!whole && !scans && !small) return stream(call);
  if (whole && length > BUFFERED_LIMIT) return tooLarge('10 MiB');
  acceptBody(call.req, call.res);
  const limit = whole ? BUFFERED_LIMIT : scans ? SCAN_LIMIT : SMALL;
  return readBody(call.req, Math.max(limit, small ? length : 0), (bytes) => runtime.bodies.hold(call, bytes)).then((read) => {
    if (read.state === 'crowded')
      return refused('concurrency_limit_exceeded', 'Too many request bodies are held in memory. Try again shortly.');
    if (read.body === null) return refused('invalid_request', "The request body wasn't fully received.");
    call.body = read.body;
    call.requestBytes = read.body.length;
    if (read.state === 'whole') return keepRequest(call, read.body);
    if (whole) return tooLarge('10 MiB');
    // Too long to look into: it may pass when nothing in the part that was read asks for it.
    if (read.body.includes('{{secret')) return tooLarge(SCANNED);
    call.req.unshift(read.body);
    call.body = null;
    return stream(call);
  });
}

const SCANNED = '5 MiB if it contains placeholders';

function stream(call: RouteCall): Refused | undefined {
  if (call.contentLength > STREAMED_LIMIT) return tooLarge('100 MiB');
  call.streamsBody = true;
  return undefined;
}

const tooLarge = (limit: string) => refused('payload_too_large', `The request body must not exceed ${limit}.`);

function compose(call: RouteCall, runtime: Runtime, config: CallConfig): Result {
  const rewritable = rewritesBody(call.method);
  const scan = call.body !== null && rewritable && config.bodyPlaceholders !== 'off' ? scanCaller(call) : undefined;
  return scan instanceof Promise ? scan.then((found) => resolved(call, runtime, config, found)) : resolved(call, runtime, config, scan);
}

function resolved(call: RouteCall, runtime: Runtime, config: CallConfig, scan: Scan | Refused | undefined): Result {
  if (scan && 'code' in scan) return scan;
  const resolution = newResolution(call.state.test !== null, call.hidesSecrets);
  const needed = rewritesBody(call.method) && config.body ? [...config.references.head, ...config.references.body] : config.references.head;
  // The common route.
  if (config.target.kind === 'fixed' && !scan) {
    setTarget(call, config.target, call.state.forwardPath);
    return after(egressAllowed(call) ?? resolve(call, runtime, needed, 'configuration', resolution), () =>
      apply(call, runtime, config, resolution, undefined),
    );
  }
  return after(chooseTarget(call, runtime, config, resolution, call.state.forwardPath), () =>
    after(egressAllowed(call), () =>
      after(resolve(call, runtime, needed, 'configuration', resolution), () =>
        after(scan ? resolve(call, runtime, scan.references, 'caller', resolution) : undefined, () =>
          apply(call, runtime, config, resolution, scan),
        ),
      ),
    ),
  );
}

function scanCaller(call: RouteCall): Found | Promise<Found> {
  const kind = scannable(call.contentType);
  if (!kind || !call.body || (call.contentEncoding !== '' && call.contentEncoding !== 'identity')) return undefined;
  return paced(scanBody(call.body, kind, call.contentType), call.body.length);
}
type Found = Scan | Refused | undefined;

function apply(call: RouteCall, runtime: Runtime, config: CallConfig, resolution: Resolution, scan: Scan | undefined): Result {
  const written = paced(bothViews(call, config, resolution, scan), call.body?.length ?? 0);
  const finish = (views: Refused | Views) => ('code' in views ? views : applied(call, runtime, config, resolution, views));
  return written instanceof Promise ? written.then(finish) : finish(written);
}

/** A request as it leaves, and as a test may show it. */
type Views = { written: Written; masked: Written | undefined };

function* bothViews(call: RouteCall, config: CallConfig, resolution: Resolution, scan: Scan | undefined): Steps<Refused | Views> {
  const written = yield* write(call, config, resolution, scan);
  if ('code' in written) return written;
  if (!resolution.shown || !call.state.test) return { written, masked: undefined };
  // Rendered again with marks in place of values: masking by origin, not by search, confirms no guess at a value.
  const masked = yield* write(call, config, resolution.shown, scan);
  return { written, masked: 'code' in masked ? undefined : masked };
}

function applied(call: RouteCall, runtime: Runtime, config: CallConfig, resolution: Resolution, { written, masked }: Views): Result {
  const { secrets, shown } = resolution;
  const { test } = call.state;
  if (shown && test) {
    test.secrets = secrets;
    if (masked) test.shown = { ...masked, path: plainMarks(masked.path, secrets) };
  }
  call.injectedHeaders = written.headers;
  call.upstreamPath = written.path;
  call.body = written.body;
  if (written.injected.length > 0) call.injected = written.injected;
  if (secrets.size > 0) {
    call.secretsUsed = [...secrets.keys()];
    if (call.capture) call.capture.secrets = secrets;
  }
  call.state.resolution = resolution;
  if (call.connections !== null) call.renew = renewalOf(call, runtime, config, resolution);
  return scrubAnswer(call, resolution);
}

/** A mark in a query is read more easily than its percent-encoding. */
const plainMarks = (path: string, secrets: ReadonlyMap<string, string>): string =>
  [...secrets.keys()].reduce((text, name) => text.replaceAll(formEncode(redactedMark(name)), redactedMark(name)), path);

type Written = { headers: string[] | null; path: string; body: Buffer | null; injected: string[] };

/** The parts of the upstream's request that templates have a hand in. */
function* write(
  call: RouteCall,
  config: CallConfig,
  { configuration: values, caller }: Pick<Resolution, 'configuration' | 'caller'>,
  scan: Scan | undefined,
): Steps<Written | Refused> {
  const injected: string[] = [];
  const made = injectHeaders(config, values, injected);
  if (made !== null && 'code' in made) return made;
  let headers = made;
  const path = withQuery(call.upstreamPath, call.state.query, config, values, injected);
  let body = call.body;
  if (scan) {
    body = writeBody(scan, caller);
    injected.push('body:placeholders');
  }
  if (config.body && rewritesBody(call.method)) {
    const merged = yield* injectBody(body, call.contentType, renderBody(config.body, config.bodyTemplates, values));
    if ('code' in merged) return merged;
    body = merged.body;
    if (merged.contentType !== null) headers = [...(headers ?? []), 'Content-Type', merged.contentType];
    injected.push('body');
  }
  return { headers, path, body, injected };
}
