export { countDenial, policyDenied, recordDenial, writeDenials } from './denials.ts';
export { callerOf, denyingPolicy, policyDenyingCall, policyEscapedByHeirs, rowsShown } from './enforcement.ts';
export { forgetRules } from './store.ts';
