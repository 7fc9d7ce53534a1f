import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { exporting, operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { revealCertificate, revealOfKey } from './reveal.ts';
import * as wire from './schema.ts';
import * as pki from './service.ts';

const listRoots = operation({
  id: 'pki.list_roots',
  summary: 'List roots',
  http: 'GET /pki/roots',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: [],
  input: z.object({}),
  output: z.array(wire.CaRoot),
  list: 'whole',
  run: async (ctx) => wholeList(await pki.listRoots(ctx)),
});

const createRoot = operation({
  id: 'pki.create_root',
  summary: 'Create a root',
  http: 'POST /pki/roots',
  kind: 'change',
  needs: ['pki:create'],
  mirrored: true,
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: wire.CreateRoot,
  output: wire.CreatedRoot,
  success: 201,
  run: (ctx, input) => pki.createRoot(ctx, input),
});

const getRoot = operation({
  id: 'pki.get_root',
  summary: 'Get a root',
  http: 'GET /pki/roots/{name}',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: wire.RootRef,
  output: wire.CaRoot,
  run: (ctx, input) => pki.getRoot(ctx, input),
});

const updateRoot = operation({
  id: 'pki.update_root',
  summary: 'Update a root',
  http: 'PATCH /pki/roots/{name}',
  kind: 'change',
  needs: ['pki:update'],
  mirrored: true,
  step_up: ({ status }) => (status === 'revoked' ? 'pki.revoke_root' : undefined),
  refuses: ['not_found', 'root_not_active'],
  input: wire.UpdateRoot,
  output: wire.CaRoot,
  edits: { row: (tx, ctx, { name }) => pki.lockedRoot(tx, ctx, name), shown_by: getRoot },
  run: (ctx, input) => pki.updateRoot(ctx, input),
});

const deleteRoot = operation({
  id: 'pki.delete_root',
  summary: 'Delete a root',
  http: 'DELETE /pki/roots/{name}',
  kind: 'change',
  needs: ['pki:delete'],
  mirrored: true,
  refuses: ['not_found', 'in_use'],
  input: wire.RootRef,
  output: Deleted,
  run: (ctx, input) => pki.deleteRoot(ctx, input),
});

const rootCertificate = exporting({
  id: 'pki.root_certificate',
  summary: 'Download the certificate of a root',
  http: 'GET /pki/roots/{name}/cert',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  media: 'text/x-pem-file',
  input: wire.RootRef,
  stream: pki.certificateAnswer,
});

const rootChain = exporting({
  id: 'pki.root_chain',
  summary: 'Download the chain of a root',
  http: 'GET /pki/roots/{name}/chain',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  media: 'text/x-pem-file',
  input: wire.RootRef,
  stream: pki.chainAnswer,
});

const rotateIntermediate = operation({
  id: 'pki.rotate_intermediate',
  summary: 'Rotate the intermediate of a root',
  http: 'POST /pki/roots/{name}/rotate-intermediate',
  kind: 'change',
  needs: ['pki:rotate'],
  mirrored: true,
  refuses: ['not_found', 'root_not_active', 'tenant_sealed'],
  input: wire.RootRef,
  output: wire.RotatedIntermediate,
  run: (ctx, input) => pki.rotateIntermediate(ctx, input),
});

const revokeIntermediate = operation({
  id: 'pki.revoke_intermediate',
  summary: 'Revoke an intermediate',
  http: 'POST /pki/roots/{name}/intermediates/{id}/revoke',
  kind: 'change',
  needs: ['pki:revoke'],
  mirrored: true,
  while_inactive: true,
  refuses: ['not_found', 'root_not_active', 'tenant_sealed'],
  input: wire.RevokeIntermediate,
  output: wire.RevokedIntermediate,
  run: (ctx, input) => pki.revokeIntermediate(ctx, input),
});

const crl = exporting({
  id: 'pki.crl',
  summary: 'Download the revocation lists of a root',
  http: 'GET /pki/roots/{name}/crl',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  media: 'text/plain',
  input: wire.GetCrl,
  stream: pki.crlAnswer,
});

const listRoles = operation({
  id: 'pki.list_roles',
  summary: 'List the roles of a root',
  http: 'GET /pki/roots/{name}/roles',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: wire.RootRef,
  output: z.array(wire.CaRole),
  list: 'whole',
  run: async (ctx, input) => wholeList(await pki.listRoles(ctx, input)),
});

const createRole = operation({
  id: 'pki.create_role',
  summary: 'Create a role of a root',
  http: 'POST /pki/roots/{name}/roles',
  kind: 'change',
  needs: ['pki:manage_roles'],
  mirrored: true,
  refuses: ['not_found', 'conflict', 'plan_limit'],
  input: wire.CreateRole,
  output: wire.CaRole,
  success: 201,
  run: (ctx, input) => pki.createRole(ctx, input),
});

const getRole = operation({
  id: 'pki.get_role',
  summary: 'Get a role of a root',
  http: 'GET /pki/roots/{name}/roles/{role}',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: wire.RoleRef,
  output: wire.CaRole,
  run: (ctx, input) => pki.getRole(ctx, input),
});

const updateRole = operation({
  id: 'pki.update_role',
  summary: 'Update a role of a root',
  http: 'PATCH /pki/roots/{name}/roles/{role}',
  kind: 'change',
  needs: ['pki:manage_roles'],
  mirrored: true,
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: wire.UpdateRole,
  output: wire.CaRole,
  edits: { row: (tx, ctx, input) => pki.lockedRole(tx, ctx, input), shown_by: getRole },
  run: (ctx, input) => pki.updateRole(ctx, input),
});

const deleteRole = operation({
  id: 'pki.delete_role',
  summary: 'Delete a role of a root',
  http: 'DELETE /pki/roots/{name}/roles/{role}',
  kind: 'change',
  needs: ['pki:manage_roles'],
  mirrored: true,
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: wire.RoleRef,
  output: Deleted,
  run: (ctx, input) => pki.deleteRole(ctx, input),
});

const ISSUING = ['not_found', 'root_not_active', 'plan_limit', 'rate_limit_exceeded', 'tenant_sealed'] as const;

const issue = operation({
  id: 'pki.issue',
  summary: 'Issue a certificate',
  http: 'POST /pki/roots/{name}/issue/{role}',
  kind: 'mint',
  needs: ['pki:issue'],
  refuses: ISSUING,
  input: wire.IssueCertificate,
  output: wire.IssuedCertificate,
  success: 201,
  run: (ctx, input) => pki.issueCertificate(ctx, input),
});

const sign = operation({
  id: 'pki.sign',
  summary: 'Sign a certificate request',
  http: 'POST /pki/roots/{name}/sign/{role}',
  kind: 'change',
  needs: ['pki:sign'],
  mirrored: true,
  refuses: ISSUING,
  input: wire.SignRequest,
  output: wire.SignedCertificate,
  success: 201,
  run: (ctx, input) => pki.signRequest(ctx, input),
});

const revoke = operation({
  id: 'pki.revoke',
  summary: 'Revoke a certificate',
  http: 'POST /pki/roots/{name}/revoke',
  kind: 'change',
  needs: ['pki:revoke'],
  mirrored: true,
  while_inactive: true,
  refuses: ['not_found'],
  input: wire.RevokeCertificate,
  output: wire.Revoked,
  run: (ctx, input) => pki.revokeCertificate(ctx, input),
});

const listCertificates = operation({
  id: 'pki.list_certificates',
  summary: 'List the certificates of a root',
  http: 'GET /pki/roots/{name}/certificates',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: wire.ListCertificates,
  output: z.array(wire.CertificateRecord),
  list: 'paged',
  run: (ctx, input) => pki.listCertificates(ctx, input),
});

const getCertificate = operation({
  id: 'pki.get_certificate',
  summary: 'Get a certificate',
  http: 'GET /pki/roots/{name}/certificates/{serial_hex}',
  kind: 'read',
  needs: ['pki:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: wire.CertificateRef,
  output: wire.CertificateDetail,
  run: (ctx, input) => pki.getCertificate(ctx, input),
});

const summaries = operation({
  id: 'pki.summaries',
  summary: 'Count the certificates of each root',
  http: 'GET /admin/pki/summaries/roots',
  kind: 'read',
  needs: ['pki:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(wire.RootSummary),
  list: 'whole',
  run: async (ctx) => wholeList(await pki.summariesOfRoots(ctx)),
});

const overview = operation({
  id: 'pki.overview',
  summary: 'Show the intermediates and lists of a root',
  http: 'GET /admin/pki/roots/{name}/overview',
  kind: 'read',
  needs: ['pki:read'],
  refuses: ['not_found'],
  input: wire.RootRef,
  output: wire.RootOverview,
  run: (ctx, input) => pki.overviewOfRoot(ctx, input),
});

const revealIssue = operation({
  id: 'pki.reveal_issue',
  summary: 'Issue a certificate in the dashboard',
  http: 'POST /admin/pki/roots/{name}/issue/{role}',
  kind: 'reveal',
  needs: ['pki:issue'],
  refuses: [...ISSUING, 'role_denied'],
  input: wire.IssueCertificate,
  output: wire.RevealedCertificate,
  success: 201,
  reveal: revealOfKey,
  run: (ctx, input) => revealCertificate(ctx, input),
});

export {
  createRole,
  createRoot,
  crl,
  deleteRole,
  deleteRoot,
  getCertificate,
  getRole,
  getRoot,
  issue,
  listCertificates,
  listRoles,
  listRoots,
  overview,
  revealIssue,
  revoke,
  revokeIntermediate,
  rootCertificate,
  rootChain,
  rotateIntermediate,
  sign,
  summaries,
  updateRole,
  updateRoot,
};
