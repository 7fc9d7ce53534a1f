import { type LogFn, type Logger, pino, stdSerializers } from 'pino';
import { redactCredentials, redactedMark } from '../kernel/credential-patterns.ts';
import { Refusal } from '../kernel/errors.ts';
import { logLevel } from './env.ts';
import { isCounted, isDeliberate } from './outage-lines.ts';

// What only its place in a log line tells: header values and the password part of a URL. No class here matches a quote or a backslash.
const authorization = /\b((?:proxy-)?authorization\\{0,3}["']?\s?[:=]\s?\\{0,3}["']?(?:[A-Za-z]{1,20} )?)[^\s"',\\]+/gi;
const bearer = /\b((?:Bearer|DPoP|Basic) )[A-Za-z0-9._~+/=-]{16,}/g;
const urlPassword = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'\\]{0,200}:)[^\s/@"'\\]{1,500}(?=@)/gi;

/** Masks everything shaped or placed like a credential. For logs, traces, error reports, captured payloads and audit details. */
export function scrub(text: string): string {
  return redactCredentials(text)
    .replace(authorization, `$1${redactedMark}`)
    .replace(bearer, `$1${redactedMark}`)
    .replace(urlPassword, `$1${redactedMark}`);
}

const [WARN, FATAL] = [40, 60];

/** JSON lines on standard output; the finished line is scrubbed, so no field, message or stack escapes it. */
export const log = pino({
  level: logLevel(),
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
  serializers: { err: described },
  hooks: { streamWrite: scrubLine, logMethod: writeOrCount },
});

/** Of a refusal what it is and its cause, whose stack leads to the failure; nothing needs the stack of a bound or a rule that did its work. */
function described(error: Error): unknown {
  const refusal = error instanceof Refusal ? { refusal: error.type } : {};
  if (isDeliberate(error)) return { type: error.name, message: error.message, ...refusal };
  if (!(error instanceof Refusal)) return stdSerializers.err(error);
  return { ...stdSerializers.err(error.cause instanceof Error ? error.cause : error), ...refusal };
}

/** Lines of an outage are told once a minute (`outage-lines.ts`), whoever writes them. */
function writeOrCount(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  if (level >= WARN && level < FATAL && isCounted(args, (...line) => method.apply(this, line))) return;
  method.apply(this, args);
}

/** A masked key that was cut off runs to the end of the text, and would take the end of the JSON with it: then only the time is kept. */
function scrubLine(line: string): string {
  const clean = scrub(line);
  if (clean === line) return line;
  try {
    JSON.parse(clean);
    return clean;
  } catch {
    return `${line.slice(0, line.indexOf('"pid"'))}"msg":"${redactedMark}"}\n`;
  }
}
