import { contact } from './contact.ts';
import { credential } from './credential.ts';
import type { Entity } from './entity.ts';
import { financial } from './financial.ts';
import { government } from './government.ts';
import { health } from './health.ts';
import { network } from './network.ts';

/** Every built-in detector; an entity may have several, of which the first describes it. */
export const ENTITIES: readonly Entity[] = [...contact, ...financial, ...government, ...health, ...network, credential];

/** One detector per entity: what the catalogue shows. */
export const ENTITY_CATALOGUE: readonly Entity[] = ENTITIES.filter(({ about }) => about !== '');
