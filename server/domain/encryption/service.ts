export { jsonOf } from './leaves.ts';
