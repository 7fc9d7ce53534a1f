// npm run sdk   makes sdk/generated from public/openapi.json; tests and checks do it by themselves, and service-cli makes the part that it loads
import { fail } from './command.ts';
import { generateSdk } from './sdk-generator.ts';

console.log((await generateSdk().catch(fail)) ? 'Generated sdk/generated' : 'sdk/generated is current');
