import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sha256 } from './keys.ts';
import { CREDENTIALS, SECRET_NAME } from './patterns.ts';

/** What a scan says of a credential. Its value never leaves the host: four characters to recognise it, and a digest to find it again. */
export type Finding = {
  host: string;
  source: 'file' | 'env' | 'connection';
  path: string;
  line_number?: number;
  kind: string;
  first4: string;
  sha256_prefix: string;
};
export type ScanReport = { findings: Finding[]; connections: Connection[]; files: number; skipped: number; truncated: boolean };
export type Connection = { host: string; remote: string; port: number; kind: string };
export type ScanArgs = { paths?: string[]; env?: boolean; connections?: boolean };

const MAX_FILE = 1024 * 1024;
const MAX_FILES = 50_000;
const MAX_FINDINGS = 2_000;
const SKIPPED_FOLDERS = new Set(['node_modules', '.git', '.hg', '.svn', 'proc', 'sys', 'dev', '__pycache__', '.cache']);

/** Looks through files, the environment of this account's processes and open connections. Reads only. */
export function scan({ paths = [process.cwd()], env = true, connections = true }: ScanArgs): ScanReport {
  const report: ScanReport = { findings: [], connections: [], files: 0, skipped: 0, truncated: false };
  for (const given of paths) scanPath(path.resolve(given), report);
  if (env) scanEnvironments(report);
  if (connections) report.connections = openConnections();
  return report;
}

function scanPath(start: string, report: ScanReport): void {
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (report.files >= MAX_FILES || report.findings.length >= MAX_FINDINGS) {
      report.truncated = true;
      return;
    }
    try {
      const found = fs.lstatSync(at);
      if (found.isDirectory()) {
        if (at !== start && SKIPPED_FOLDERS.has(path.basename(at))) continue;
        for (const name of fs.readdirSync(at)) waiting.push(path.join(at, name));
      } else if (found.isFile()) {
        if (found.size > MAX_FILE) report.skipped++;
        else scanText(fs.readFileSync(at), at, report);
      }
    } catch {
      report.skipped++;
    }
  }
}

function scanText(bytes: Buffer, file: string, report: ScanReport): void {
  if (bytes.subarray(0, 1024).includes(0)) return;
  report.files++;
  const lines = bytes.toString().split('\n');
  for (const [index, line] of lines.entries())
    for (const { kind, value } of credentialsIn(line))
      report.findings.push({ ...finding('file', file, kind, value), line_number: index + 1 });
}

/** Credentials of known kinds, and `NAME=value` where the name says so. Lines over 10000 characters are data, not settings. */
export function credentialsIn(line: string): { kind: string; value: string }[] {
  if (line.length > 10_000) return [];
  const found: { kind: string; value: string }[] = [];
  for (const { kind, pattern } of CREDENTIALS) for (const [value] of line.matchAll(pattern)) found.push({ kind, value });
  if (found.length > 0) return found;
  const [, name = '', value = ''] = /^\s*(?:export\s+)?([A-Z][A-Z0-9_]{2,60})\s*[=:]\s*["']?([^\s"'#]{8,400})/.exec(line) ?? [];
  if (SECRET_NAME.test(name) && !/^(?:\$|<|\{|xxx|changeme|example|your[-_])/i.test(value)) found.push({ kind: 'named_secret', value });
  return found;
}

/** Linux shows the environment of one's own processes, to root that of all. */
function scanEnvironments(report: ScanReport): void {
  const seen = new Set<string>();
  const processes = process.platform === 'linux' ? fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  const environments = processes.map((id) => ({ where: `/proc/${id}/environ`, text: readOr(`/proc/${id}/environ`) }));
  for (const { where, text } of environments)
    for (const line of text.split('\0')) {
      const name = line.slice(0, line.indexOf('='));
      if (name.startsWith('SVC_AGENT_')) continue;
      for (const { kind, value } of credentialsIn(line)) {
        const one = finding('env', `${where}#${name}`, kind, value);
        const key = `${name} ${one.sha256_prefix}`;
        if (!seen.has(key) && report.findings.length < MAX_FINDINGS) report.findings.push(one);
        seen.add(key);
      }
    }
}

const DATABASE_PORTS: Readonly<Record<number, string>> = {
  5432: 'postgres',
  3306: 'mysql',
  27017: 'mongodb',
  6379: 'redis',
  1433: 'sqlserver',
};

/** Established connections of this host to databases, by Linux' table of sockets. */
function openConnections(): Connection[] {
  const found = new Map<string, Connection>();
  for (const line of readOr('/proc/net/tcp').split('\n').slice(1)) {
    const [, , remote = '', state] = line.trim().split(/\s+/);
    const [hex = '', portHex = ''] = remote.split(':');
    const port = Number.parseInt(portHex, 16);
    const kind = DATABASE_PORTS[port];
    if (state !== '01' || kind === undefined) continue;
    const address = (hex.match(/../g) ?? [])
      .reverse()
      .map((byte) => Number.parseInt(byte, 16))
      .join('.');
    found.set(`${address}:${port}`, { host: os.hostname(), remote: address, port, kind });
  }
  return [...found.values()];
}

function finding(source: Finding['source'], at: string, kind: string, value: string): Finding {
  return { host: os.hostname(), source, path: at, kind, first4: value.slice(0, 4), sha256_prefix: sha256(value).slice(0, 16) };
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
