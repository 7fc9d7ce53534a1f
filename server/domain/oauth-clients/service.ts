export { updateClient } from './changes.ts';
export { createClient } from './creation.ts';
export { listGrants, revokeGrant } from './grants.ts';
export { getClient, listClients } from './listing.ts';
export {
  changeProvisionedClient,
  getProvisionedClient,
  listProvisionedClients,
  revokeProvisionedClient,
} from './provisioning.ts';
export { revokeClient } from './revocation.ts';
export { rotateSecret } from './rotation.ts';
export { detailOf, rowsOf } from './shape.ts';
export { assertEditable, clientByRef, lockedClient } from './store.ts';
