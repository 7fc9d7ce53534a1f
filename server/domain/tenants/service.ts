/** What other families may use of workspaces. */
export { companyOf, updateCompany } from './company.ts';
