#!/usr/bin/env node
// Verifies an export of the critical audit chain without the service: node verify-audit-chain.mjs critical-chain.jsonl [--keys svc-audit-keys.json]
//
// Needs Node 18 or newer and nothing else. What it checks, line by line:
//   1. SHA-256 of the canonical bytes is the row's hash, and the readable members say exactly what those bytes say.
//   2. Numbers run 1, 2, 3, ... and each row names the hash of the row before it: nothing was removed, put in or moved.
//   3. The last line's Ed25519 signature covers chain, number, hash and time of the last row. With --keys the signing key must be in that
//      file (the service's /.well-known/svc-audit-keys.json, fetched on another day or by another way); without, the key named in the export
//      is used, which proves the file whole but not who made it.
// Exit code 0: valid. 1: not valid. 2: cannot be checked (usage, unreadable file).
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const FIELDS = [
  'chain_id',
  'sequence_number',
  'prev_hash',
  'at',
  'tenant_id',
  'actor_id',
  'action',
  'resource_type',
  'resource_id',
  'details',
];
const ZERO = '0'.repeat(64);

class Invalid extends Error {}

const { file, keysFile } = parseArguments(process.argv.slice(2));
try {
  const keys = keysFile ? JSON.parse(readFileSync(keysFile, 'utf8')).keys : null;
  const { rows, head, trailer } = await readChain(file);
  checkTrailer(head, trailer, keys);
  console.log(`VALID: ${rows} rows of chain ${trailer.head.chain_id}, up to ${trailer.head.sequence_number} (${trailer.head.row_hash})`);
  console.log(`Signed ${trailer.head.at} by key ${trailer.key_id}${keys ? ', which is among the given keys.' : '.'}`);
  if (!keys)
    console.log(
      'The key was taken from the export itself. Compare it with /.well-known/svc-audit-keys.json, or pass that file with --keys.',
    );
} catch (error) {
  if (!(error instanceof Invalid)) stop(`${file}: ${error.message}`);
  console.error(`NOT VALID: ${error.message}`);
  process.exit(1);
}

function parseArguments(given) {
  const at = given.indexOf('--keys');
  const keysFile = at === -1 ? undefined : given[at + 1];
  const rest = at === -1 ? given : given.filter((_, i) => i !== at && i !== at + 1);
  if (rest.length !== 1 || (at !== -1 && !keysFile))
    stop('usage: node verify-audit-chain.mjs <export.jsonl> [--keys <svc-audit-keys.json>]');
  return { file: rest[0], keysFile };
}

function stop(message) {
  console.error(message);
  process.exit(2);
}

async function readChain(path) {
  let head = { chain_id: null, sequence_number: 0n, row_hash: ZERO };
  let trailer;
  let rows = 0;
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line++;
    if (text.trim() === '') continue;
    if (trailer) throw new Invalid(`line ${line} stands after the signature`);
    const value = parse(text, line);
    if (value.head) trailer = value;
    else {
      head = checkRow(value, head, line);
      rows++;
    }
  }
  if (!trailer) throw new Invalid('the last line with the signature is missing: the export was cut off');
  return { rows, head, trailer };
}

function parse(text, line) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Invalid(`line ${line} is not JSON`);
  }
}

function checkRow(row, before, line) {
  const where = `row ${row.sequence_number} (line ${line})`;
  if (typeof row.canonical !== 'string') throw new Invalid(`${where} has no canonical bytes: its details were altered`);
  const bytes = Buffer.from(row.canonical, 'base64');
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (hash !== row.row_hash) throw new Invalid(`${where} does not have its hash: it was altered`);
  const said = fieldsOf(bytes, where);
  for (const field of FIELDS) {
    const shown = field === 'details' ? canonicalJson(row.details) : (row[field] ?? null);
    if (shown !== said[field]) throw new Invalid(`${where} shows another ${field} than the bytes that were hashed`);
  }
  if (before.chain_id !== null && said.chain_id !== before.chain_id) throw new Invalid(`${where} is of another chain`);
  const wanted = before.sequence_number + 1n;
  if (BigInt(said.sequence_number) !== wanted) throw new Invalid(`${where} stands where ${wanted} is due: rows are missing or moved`);
  if (said.prev_hash !== before.row_hash) throw new Invalid(`${where} does not follow the row before it`);
  return { chain_id: said.chain_id, sequence_number: wanted, row_hash: hash };
}

/** "SVCCHAIN1", then each field as a 4-byte big-endian length and its bytes; FF FF FF FF is null. */
function fieldsOf(bytes, where) {
  const damaged = () => new Invalid(`${where} has canonical bytes of no known form`);
  if (bytes.subarray(0, 9).toString('latin1') !== 'SVCCHAIN1') throw damaged();
  const out = {};
  let at = 9;
  for (const field of FIELDS) {
    if (at + 4 > bytes.length) throw damaged();
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length === 0xffffffff) {
      out[field] = null;
      continue;
    }
    if (at + length > bytes.length) throw damaged();
    const part = bytes.subarray(at, at + length);
    at += length;
    if (field === 'sequence_number') out[field] = part.readBigUInt64BE().toString();
    else out[field] = field === 'prev_hash' ? part.toString('hex') : part.toString('utf8');
  }
  if (at !== bytes.length) throw damaged();
  return out;
}

/** RFC 8785: members sorted by UTF-16 code units, no white space. */
function canonicalJson(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    .join(',')}}`;
}

function checkTrailer(head, { head: signed, signature, key_id, public_key, failure }, keys) {
  if (!signature)
    throw new Invalid(`the service didn't sign it: its own verification failed at row ${failure?.sequence_number} (${failure?.kind})`);
  const sequence = BigInt(signed.sequence_number);
  if (sequence !== head.sequence_number || signed.row_hash !== head.row_hash)
    throw new Invalid('the signature is for another last row: rows are missing at the end');
  if (head.chain_id !== null && signed.chain_id !== head.chain_id) throw new Invalid('the signature is for another chain');
  const x = keys ? keys.find((key) => key.kid === key_id)?.x : public_key;
  if (!x) throw new Invalid(`the signing key ${key_id} is not among the given keys`);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(sequence);
  const parts = [Buffer.from(signed.chain_id), number, Buffer.from(signed.row_hash, 'hex'), Buffer.from(signed.at)];
  const message = [Buffer.from('SVCHEAD1', 'latin1')];
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    message.push(length, part);
  }
  if (!verify(null, Buffer.concat(message), key, Buffer.from(signature, 'base64'))) throw new Invalid('the signature does not hold');
}
