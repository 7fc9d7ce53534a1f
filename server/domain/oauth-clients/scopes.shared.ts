/** The register of scopes, for pages: what each lets an application do, and who may carry it. */
export {
  expandScopes,
  PERSON_FORBIDDEN_SCOPES,
  SCOPE_CATALOGUE,
  SCOPE_NAMES,
  type Scope,
  STEP_UP_SCOPES,
} from '#server/kernel/scopes.ts';
