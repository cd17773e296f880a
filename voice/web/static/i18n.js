// Words of the page, one dictionary a language. What answers describes itself in English.

export const LANGUAGES = ["en", "de", "es"];

export const WORDS = {
  en: {
    skip: "Skip to the conversation", views: "Views", talk: "Talk", keys: "Keys", theme: "Light or dark",
    language: "Language of this page", conversation: "Conversation", transcript: "Transcript", about: "About this call",
    title: "Talk to Jarvis. It knows what your notebooks say, in files that are yours.",
    lead: "Talk as you would to a person, and cut in whenever you like. Two notebooks, plain text, go along with every question. You can read and change them at any time.",
    start: "Start talking", space: "Space", space_starts: "starts it too.", asks_once: "Your browser asks once for the microphone.",
    what_answers: "What answers", where_words: "Where your words go", where_files: "Where your files are", looking: "Looking …",
    costs_line: "Costs: {costs}.", files_line: "USER.md and MEMORY.md. Plain text, open them in any editor.", entries: "{n} entries",
    entry: "1 entry", not_there: "not there yet",
    try: "Try saying", try1: "What do you know about me?", try2: "What day is it today?", try3: "Who is in my family?",
    newest: "Newest", stop: "Stop the voice", mute: "Mute", unmute: "Unmute", hang: "Hang up", type: "Type instead of talking", send: "Send",
    you: "You", now: "now", typed: "typed", pasted: "pasted", cut: "you cut in; the rest was neither heard nor kept", saved_in: "Saved in {notebook}:", saved_later: "Kept for later:", not_saved: "Not saved.",
    older: "Earlier turns are no longer shown here. They are in the call’s transcript.",
    idle: "Ready", preparing: "Getting ready", connecting: "Connecting", listening: "Listening", hearing: "Hearing you", thinking: "Thinking",
    speaking: "Speaking", reconnecting: "Reconnecting", muted: "Muted",
    h_idle: "Press Space or the button.", h_idle_touch: "Press the button.", h_joining: "One moment, then I listen.", h_muted_touch: "I can’t hear you.", h_preparing: "You can speak as soon as it is done.", h_connecting: "Allow the microphone if asked.",
    h_listening: "Say something.", h_hearing: "Go on, take your time.", h_thinking: "Putting an answer together.",
    h_speaking: "Talk any time to interrupt.", h_reconnecting: "The line is down. I try to get it back.", h_muted: "I can’t hear you. Press M.",
    first_minute: "The first minute", step1: "Press Start talking.", step2: "Allow the microphone.", step3: "Say hello, and wait for the answer.",
    step4: "Talk while it speaks: it stops and listens.", step5: "Press Hang up.",
    k_start: "Start", k_mute: "Mute", k_stop: "Stop the voice", k_type: "Type", k_hang: "Hang up", k_all: "All keys",
    single_keys: "Single keys", single_hint: "Space, M, / and ? without Ctrl. Turn off if you talk to your computer with other software.",
    close: "Close", this_call: "This call", last_call: "The last call", began: "Began", ago: "{n} min ago", just_now: "just now", turns: "Turns", given: "Given to memory", given_turns: "{n} turns",
    engine: "Engine", name: "Name", hears: "Hears", thinks: "Thinks", speaks: "Speaks", costs: "Costs", words_go: "Words go to",
    fast: "How fast it answered", fast_line: "Half under {half} s, slowest {slow} s, from your last word to the first sound.",
    fast_label: "Time to the first sound of the last {n} answers, by stage", latency: "from your last word to the first sound",
    s_pause: "waiting for your pause", s_transcript: "writing down", s_notes: "searching notes", s_first_word: "first word", s_first_sound: "first sound",
    along: "Along with every question", cached: "From the cache",
    e_refused: "Your browser doesn’t let this page use the microphone",
    e_refused_p: "You, or a setting, said no. Click the sign left of the address, allow the microphone, then try again. You can type in the meantime.",
    e_none: "No microphone was found", e_none_p: "Plug one in, or turn it on in the computer’s sound settings, then try again. You can type in the meantime.",
    e_busy: "Another program holds the microphone", e_busy_p: "Close the other call or recorder, then try again. You can type in the meantime.",
    e_insecure: "The browser gives no microphone to this address", e_insecure_p: "It does so only for pages on this computer. Open the address that Jarvis printed, with 127.0.0.1 in it.",
    e_old: "This browser can’t make calls", e_old_p: "It has no WebRTC, or a setting turned it off. Use a current Firefox, Chrome, Edge or Safari. You can type in the meantime.",
    e_offline: "The browser makes no call without a network", e_offline_p: "Not even to this computer itself. Turn on Wi-Fi or plug in a cable, then try again; nothing is sent over it. You can type in the meantime.",
    e_mic: "The microphone can’t be opened", e_mic_p: "The browser says: {detail}. Check the computer’s sound settings, then try again.",
    e_mic_lost: "The microphone is gone", e_mic_lost_p: "It was unplugged or turned off, so the call ended. Plug it in and start again.",
    e_server: "Jarvis doesn’t answer", e_server_p: "The program behind this page has stopped, or is just starting. Look at the terminal it runs in, start it again if need be, then try again.",
    e_elsewhere: "A call runs in another window", e_elsewhere_p: "There is one call at a time. It can go on here; the other window hangs up.",
    e_moved: "The call went to another window", e_moved_p: "It goes on there. You can take it back here.",
    e_engine: "What answers has failed", e_engine_p: "The call ended. What was said so far is kept.",
    e_lost: "The line broke", e_lost_p: "The call ended. What was said so far is kept. Start again when you like.",
    e_offer: "The call could not begin", e_silence: "It was quiet for five minutes, so the call ended", e_silence_p: "What was said is kept. Start again when you like.",
    e_ended: "The call ended", e_ended_p: "Something went wrong behind it; the terminal says what. What was said so far is kept.",
    e_sound: "The browser holds the sound back", e_sound_p: "Press the button once, and you hear Jarvis.", a_sound: "Play the sound",
    e_typed: "That was not answered", a_again: "Try again", a_type: "Type instead", a_here: "Take it over here",
  },
  de: {
    skip: "Zum Gespräch", views: "Ansichten", talk: "Sprechen", keys: "Tasten", theme: "Hell oder dunkel",
    language: "Sprache dieser Seite", conversation: "Gespräch", transcript: "Mitschrift", about: "Über dieses Gespräch",
    title: "Sprich mit Jarvis. Es weiß, was in deinen Notizbüchern steht, in Dateien, die dir gehören.",
    lead: "Sprich wie mit einem Menschen und unterbrich, wann du willst. Zwei Notizbücher, reiner Text, gehen mit jeder Frage mit. Du kannst sie jederzeit lesen und ändern.",
    start: "Gespräch beginnen", space: "Leertaste", space_starts: "geht auch.", asks_once: "Der Browser fragt einmal nach dem Mikrofon.",
    what_answers: "Was antwortet", where_words: "Wohin deine Worte gehen", where_files: "Wo deine Dateien sind", looking: "Ich sehe nach …",
    costs_line: "Kosten: {costs}.", files_line: "USER.md und MEMORY.md. Reiner Text, in jedem Editor zu öffnen.", entries: "{n} Einträge",
    entry: "1 Eintrag", not_there: "noch nicht da",
    try: "Sag zum Beispiel", try1: "Was weißt du über mich?", try2: "Welcher Tag ist heute?", try3: "Wer gehört zu meiner Familie?",
    newest: "Neuestes", stop: "Stimme anhalten", mute: "Stumm", unmute: "Stumm aus", hang: "Auflegen", type: "Tippen statt sprechen", send: "Senden",
    you: "Du", now: "jetzt", typed: "getippt", pasted: "eingefügt", cut: "du hast unterbrochen; der Rest wurde weder gehört noch behalten", saved_in: "Gespeichert in {notebook}:", saved_later: "Für später aufgehoben:", not_saved: "Nicht gespeichert.",
    older: "Früheres wird hier nicht mehr gezeigt. Es steht in der Mitschrift des Gesprächs.",
    idle: "Bereit", preparing: "Gleich so weit", connecting: "Verbinde", listening: "Ich höre zu", hearing: "Ich höre dich", thinking: "Ich denke nach",
    speaking: "Ich spreche", reconnecting: "Verbinde neu", muted: "Stumm",
    h_idle: "Leertaste oder Knopf drücken.", h_idle_touch: "Drücke den Knopf.", h_joining: "Einen Moment, dann höre ich zu.", h_muted_touch: "Ich höre dich nicht.", h_preparing: "Danach kannst du gleich sprechen.", h_connecting: "Mikrofon erlauben, falls gefragt.",
    h_listening: "Sag etwas.", h_hearing: "Sprich ruhig weiter.", h_thinking: "Ich überlege mir eine Antwort.",
    h_speaking: "Du kannst jederzeit dazwischenreden.", h_reconnecting: "Die Leitung ist weg. Ich versuche es wieder.", h_muted: "Ich höre dich nicht. Drücke M.",
    first_minute: "Die erste Minute", step1: "Drücke „Gespräch beginnen“.", step2: "Erlaube das Mikrofon.", step3: "Sag Hallo und warte auf die Antwort.",
    step4: "Rede dazwischen: Es hält an und hört zu.", step5: "Drücke „Auflegen“.",
    k_start: "Beginnen", k_mute: "Stumm", k_stop: "Stimme anhalten", k_type: "Tippen", k_hang: "Auflegen", k_all: "Alle Tasten",
    single_keys: "Einzelne Tasten", single_hint: "Leertaste, M, / und ? ohne Strg. Ausschalten, wenn du deinen Rechner mit anderer Software per Sprache bedienst.",
    close: "Schließen", this_call: "Dieses Gespräch", last_call: "Das letzte Gespräch", began: "Begonnen", ago: "vor {n} min", just_now: "gerade eben", turns: "Beiträge", given: "Dem Gedächtnis gegeben", given_turns: "{n} Beiträge",
    engine: "Was antwortet", name: "Name", hears: "Hört", thinks: "Denkt", speaks: "Spricht", costs: "Kosten", words_go: "Worte gehen an",
    fast: "Wie schnell es geantwortet hat", fast_line: "Die Hälfte unter {half} s, am langsamsten {slow} s, von deinem letzten Wort bis zum ersten Ton.",
    fast_label: "Zeit bis zum ersten Ton der letzten {n} Antworten, nach Abschnitten", latency: "von deinem letzten Wort bis zum ersten Ton",
    s_pause: "warten auf deine Pause", s_transcript: "aufschreiben", s_notes: "Notizen durchsuchen", s_first_word: "erstes Wort", s_first_sound: "erster Ton",
    along: "Geht mit jeder Frage mit", cached: "Aus dem Zwischenspeicher",
    e_refused: "Der Browser lässt diese Seite nicht ans Mikrofon",
    e_refused_p: "Du oder eine Einstellung hat Nein gesagt. Klicke auf das Zeichen links von der Adresse, erlaube das Mikrofon und versuche es noch einmal. Tippen geht solange auch.",
    e_none: "Kein Mikrofon gefunden", e_none_p: "Stecke eines ein oder schalte es in den Toneinstellungen des Rechners ein, dann versuche es noch einmal. Tippen geht solange auch.",
    e_busy: "Ein anderes Programm hat das Mikrofon", e_busy_p: "Beende das andere Gespräch oder die Aufnahme, dann versuche es noch einmal. Tippen geht solange auch.",
    e_insecure: "Der Browser gibt dieser Adresse kein Mikrofon", e_insecure_p: "Das tut er nur für Seiten auf diesem Rechner. Öffne die Adresse mit 127.0.0.1, die Jarvis ausgegeben hat.",
    e_old: "Dieser Browser kann keine Gespräche führen", e_old_p: "WebRTC fehlt oder ist ausgeschaltet. Nimm ein aktuelles Firefox, Chrome, Edge oder Safari. Tippen geht solange auch.",
    e_offline: "Ohne Netzwerk macht der Browser kein Gespräch", e_offline_p: "Nicht einmal mit diesem Rechner selbst. Schalte WLAN ein oder stecke ein Kabel an, dann versuche es noch einmal; es wird nichts darüber gesendet. Tippen geht solange auch.",
    e_mic: "Das Mikrofon lässt sich nicht öffnen", e_mic_p: "Der Browser sagt: {detail}. Prüfe die Toneinstellungen des Rechners, dann versuche es noch einmal.",
    e_mic_lost: "Das Mikrofon ist weg", e_mic_lost_p: "Es wurde abgezogen oder ausgeschaltet, darum ist das Gespräch zu Ende. Stecke es ein und beginne neu.",
    e_server: "Jarvis antwortet nicht", e_server_p: "Das Programm hinter dieser Seite läuft nicht oder startet gerade. Sieh im Terminal nach, starte es wenn nötig neu, dann versuche es noch einmal.",
    e_elsewhere: "Ein Gespräch läuft in einem anderen Fenster", e_elsewhere_p: "Es gibt immer nur eines. Es kann hier weitergehen; das andere Fenster legt auf.",
    e_moved: "Das Gespräch ist in ein anderes Fenster gegangen", e_moved_p: "Dort geht es weiter. Du kannst es hierher zurückholen.",
    e_engine: "Was antwortet, ist ausgefallen", e_engine_p: "Das Gespräch ist zu Ende. Was bisher gesagt wurde, bleibt erhalten.",
    e_lost: "Die Leitung ist abgerissen", e_lost_p: "Das Gespräch ist zu Ende. Was bisher gesagt wurde, bleibt erhalten. Beginne neu, wann du willst.",
    e_offer: "Das Gespräch konnte nicht beginnen", e_silence: "Fünf Minuten war es still, darum ist das Gespräch zu Ende", e_silence_p: "Was gesagt wurde, bleibt erhalten. Beginne neu, wann du willst.",
    e_ended: "Das Gespräch ist zu Ende", e_ended_p: "Dahinter ging etwas schief; im Terminal steht, was. Was bisher gesagt wurde, bleibt erhalten.",
    e_sound: "Der Browser hält den Ton zurück", e_sound_p: "Drücke einmal den Knopf, dann hörst du Jarvis.", a_sound: "Ton abspielen",
    e_typed: "Darauf kam keine Antwort", a_again: "Noch einmal", a_type: "Lieber tippen", a_here: "Hier weiterführen",
  },
  es: {
    skip: "Ir a la conversación", views: "Vistas", talk: "Hablar", keys: "Teclas", theme: "Claro u oscuro",
    language: "Idioma de esta página", conversation: "Conversación", transcript: "Transcripción", about: "Sobre esta llamada",
    title: "Habla con Jarvis. Sabe lo que dicen tus cuadernos, en archivos que son tuyos.",
    lead: "Habla como con una persona e interrumpe cuando quieras. Dos cuadernos, texto sin más, acompañan cada pregunta. Puedes leerlos y cambiarlos siempre.",
    start: "Empezar a hablar", space: "Espacio", space_starts: "también sirve.", asks_once: "El navegador pide el micrófono una vez.",
    what_answers: "Qué responde", where_words: "Adónde van tus palabras", where_files: "Dónde están tus archivos", looking: "Miro …",
    costs_line: "Coste: {costs}.", files_line: "USER.md y MEMORY.md. Texto sin más, se abren con cualquier editor.", entries: "{n} entradas",
    entry: "1 entrada", not_there: "aún no existe",
    try: "Prueba a decir", try1: "¿Qué sabes de mí?", try2: "¿Qué día es hoy?", try3: "¿Quién es mi familia?",
    newest: "Lo último", stop: "Parar la voz", mute: "Silenciar", unmute: "Activar micro", hang: "Colgar", type: "Escribir en vez de hablar", send: "Enviar",
    you: "Tú", now: "ahora", typed: "escrito", pasted: "pegado", cut: "interrumpiste; el resto ni se oyó ni se guardó", saved_in: "Guardado en {notebook}:", saved_later: "Guardado para más tarde:", not_saved: "No guardado.",
    older: "Lo anterior ya no se muestra aquí. Está en la transcripción de la llamada.",
    idle: "Listo", preparing: "Preparando", connecting: "Conectando", listening: "Escuchando", hearing: "Te oigo", thinking: "Pensando",
    speaking: "Hablando", reconnecting: "Reconectando", muted: "En silencio",
    h_idle: "Pulsa Espacio o el botón.", h_idle_touch: "Pulsa el botón.", h_joining: "Un momento y te escucho.", h_muted_touch: "No te oigo.", h_preparing: "En cuanto acabe, puedes hablar.", h_connecting: "Permite el micrófono si te lo pide.",
    h_listening: "Di algo.", h_hearing: "Sigue, sin prisa.", h_thinking: "Preparo una respuesta.",
    h_speaking: "Interrumpe cuando quieras.", h_reconnecting: "Se cortó la línea. Intento recuperarla.", h_muted: "No te oigo. Pulsa M.",
    first_minute: "El primer minuto", step1: "Pulsa «Empezar a hablar».", step2: "Permite el micrófono.", step3: "Di hola y espera la respuesta.",
    step4: "Habla mientras habla: se para y escucha.", step5: "Pulsa «Colgar».",
    k_start: "Empezar", k_mute: "Silenciar", k_stop: "Parar la voz", k_type: "Escribir", k_hang: "Colgar", k_all: "Todas las teclas",
    single_keys: "Teclas sueltas", single_hint: "Espacio, M, / y ? sin Ctrl. Desactívalas si manejas el equipo por voz con otro programa.",
    close: "Cerrar", this_call: "Esta llamada", last_call: "La última llamada", began: "Empezó", ago: "hace {n} min", just_now: "ahora mismo", turns: "Turnos", given: "Dado a la memoria", given_turns: "{n} turnos",
    engine: "Motor", name: "Nombre", hears: "Oye", thinks: "Piensa", speaks: "Habla", costs: "Coste", words_go: "Las palabras van a",
    fast: "Cuánto tardó en responder", fast_line: "La mitad en menos de {half} s, la más lenta {slow} s, de tu última palabra al primer sonido.",
    fast_label: "Tiempo hasta el primer sonido de las últimas {n} respuestas, por etapas", latency: "de tu última palabra al primer sonido",
    s_pause: "esperar tu pausa", s_transcript: "transcribir", s_notes: "buscar en notas", s_first_word: "primera palabra", s_first_sound: "primer sonido",
    along: "Acompaña cada pregunta", cached: "De la caché",
    e_refused: "El navegador no deja que esta página use el micrófono",
    e_refused_p: "Tú o un ajuste dijo que no. Pulsa el signo a la izquierda de la dirección, permite el micrófono e inténtalo otra vez. Mientras tanto puedes escribir.",
    e_none: "No se encontró ningún micrófono", e_none_p: "Conecta uno o actívalo en los ajustes de sonido, e inténtalo otra vez. Mientras tanto puedes escribir.",
    e_busy: "Otro programa usa el micrófono", e_busy_p: "Cierra la otra llamada o grabación e inténtalo otra vez. Mientras tanto puedes escribir.",
    e_insecure: "El navegador no da micrófono a esta dirección", e_insecure_p: "Solo lo da a páginas de este equipo. Abre la dirección que mostró Jarvis, con 127.0.0.1.",
    e_old: "Este navegador no puede hacer llamadas", e_old_p: "Le falta WebRTC o está desactivado. Usa un Firefox, Chrome, Edge o Safari actual. Mientras tanto puedes escribir.",
    e_offline: "Sin red el navegador no hace llamadas", e_offline_p: "Ni siquiera a este mismo equipo. Activa el wifi o conecta un cable e inténtalo otra vez; no se envía nada por él. Mientras tanto puedes escribir.",
    e_mic: "No se puede abrir el micrófono", e_mic_p: "El navegador dice: {detail}. Revisa los ajustes de sonido e inténtalo otra vez.",
    e_mic_lost: "El micrófono ya no está", e_mic_lost_p: "Se desconectó o se apagó, así que la llamada terminó. Conéctalo y empieza de nuevo.",
    e_server: "Jarvis no responde", e_server_p: "El programa de esta página se detuvo o está arrancando. Mira su terminal, arráncalo otra vez si hace falta e inténtalo de nuevo.",
    e_elsewhere: "Hay una llamada en otra ventana", e_elsewhere_p: "Solo hay una a la vez. Puede seguir aquí; la otra ventana cuelga.",
    e_moved: "La llamada se fue a otra ventana", e_moved_p: "Sigue allí. Puedes traerla de vuelta aquí.",
    e_engine: "Lo que responde ha fallado", e_engine_p: "La llamada terminó. Lo dicho hasta ahora queda guardado.",
    e_lost: "Se cortó la línea", e_lost_p: "La llamada terminó. Lo dicho hasta ahora queda guardado. Empieza otra cuando quieras.",
    e_offer: "La llamada no pudo empezar", e_silence: "Hubo cinco minutos de silencio y la llamada terminó", e_silence_p: "Lo dicho queda guardado. Empieza otra cuando quieras.",
    e_ended: "La llamada terminó", e_ended_p: "Algo falló por detrás; el terminal dice qué. Lo dicho hasta ahora queda guardado.",
    e_sound: "El navegador retiene el sonido", e_sound_p: "Pulsa el botón una vez y oirás a Jarvis.", a_sound: "Reproducir el sonido",
    e_typed: "Eso quedó sin respuesta", a_again: "Otra vez", a_type: "Mejor escribir", a_here: "Seguir aquí",
  },
};

let current = "en";

export const language = () => current;

/** The first of the browser's languages that the page has, or the one chosen before. */
export function preferred(chosen) {
  const wanted = [chosen, ...navigator.languages].filter(Boolean);
  return wanted.map((tag) => tag.slice(0, 2)).find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

export function t(key, values = {}) {
  const text = WORDS[current][key];
  if (text === undefined) throw new Error(`no word for ${key} in ${current}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export const seconds = (ms) =>
  (ms / 1000).toLocaleString(current, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Put the words of a language into the document as it stands. */
export function translate(to) {
  current = to;
  document.documentElement.lang = to;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
    if (node.matches("button")) node.title = t(node.dataset.label);
  }
  for (const node of document.querySelectorAll("[data-placeholder]")) {
    node.placeholder = t(node.dataset.placeholder);
  }
}
