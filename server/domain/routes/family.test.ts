import { testFamily } from '#server/testing/suites.ts';
import { routes } from './family.ts';

await testFamily(routes);
