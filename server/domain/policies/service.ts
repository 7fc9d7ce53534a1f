export { countDenial, policyDenied, recordDenial, writeDenials } from './denials.ts';
export { callersOf, denyingPolicy, documentsShown, policyDenyingCall, policyEscapedByHeirs, rowsShown } from './enforcement.ts';
export { bindSuccessor } from './heirs.ts';
export { forgetRules } from './rule-cache.ts';
export { assertUsesSecrets, secretsScopeMissing } from './secret-use.ts';
