import { createCipheriv, createSecretKey } from 'node:crypto';
import { hkdf } from '../derive.ts';
import { p256Secret } from '../transit/material.fixture.ts';
import { openMaterial } from '../transit/material.ts';
import { bytesIn, throws, wycheproof } from '../wycheproof.fixture.ts';
import { openLeaf } from './seal.ts';
import { parsePortable } from './text.ts';

const tenant_id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const keyRef = Buffer.from(`${tenant_id}:7c9e6679-7425-40de-944b-e07fc1f90ae7:1`).toString('base64url');

// The shared secret shows in whether a value opens that was sealed with the expected one.
wycheproof('ECDH P-256', ['ecdh_secp256r1_ecpoint_test'], (_group, vector) => {
  const point = bytesIn(vector, 'public');
  const scalar = bytesIn(vector, 'private');
  const header = `kc:1:s:${keyRef}:${point.toString('base64url')}:${Buffer.alloc(12).toString('base64url')}`;
  const shared = bytesIn(vector, 'shared');
  const key = hkdf(createSecretKey(shared), point, `kc/1|tenant=${tenant_id}|role=`);
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12)).setAAD(Buffer.from(header));
  const sealed = Buffer.concat([cipher.update('x'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  const parsed = parsePortable(`${header}:${sealed}:$`);
  if (!parsed) return vector.result === 'invalid' ? 'refused' : 'outside'; // compressed points
  const material = openMaterial('ecdh-p256', p256Secret(padded(scalar)));
  return throws(() => openLeaf(material, parsed, { tenant_id, role: undefined })) ? 'refused' : 'accepted';
});

/** The 32 bytes of a scalar that is written with fewer or with a leading zero. */
const padded = (scalar: Buffer) => Buffer.concat([Buffer.alloc(32), scalar]).subarray(-32);
