// What the house itself says (it says it in English), in German and Spanish.
//
// The English sentence is the key, as it stands in the code. {} holds a name, a number or an address
// and goes over as it is; where the translation has {say} the value is the house's as well and is
// translated, where it has {-} it is left out. What has no row is shown in English.

import { ANSWERING } from "./answering.js";
import { BACKGROUND } from "./background.js";
import { DOCTOR } from "./doctor.js";
import { KEEPING } from "./keeping.js";
import { LEARNING } from "./learning.js";
import { RULES } from "./rules.js";
import { SERVICES } from "./services.js";

export const SENTENCES = [...ANSWERING, ...DOCTOR, ...KEEPING, ...LEARNING, ...RULES, ...BACKGROUND, ...SERVICES];
