export { clientByRow, type OAuthClient } from './client.ts';
export { type Issued, issueTokens } from './issue.ts';
export { machineScopes } from './scopes.ts';
