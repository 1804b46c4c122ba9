//! The lists and phrases that identify orders. The module [`phrase`](super::phrase) searches for them.
//!
//! A phrase consists of steps that are separated by spaces. The step `a|b` is one of these words, and `{name}` is a
//! word of the list with this name. A step with `?` is optional, and a step with `*` occurs up to three times or not at
//! all. `..3` is up to three arbitrary words. `,` requires a punctuation mark before the next step. `^` at the
//! beginning requires that the phrase is an order: it must be at the beginning of a clause, or after words such as
//! `please` and `you must`.

use crate::vocabulary::CommandKind::{self, *};

/// Lists of words that several phrases use.
pub(super) const LISTS: [(&str, &str); 34] = [
    ("drop", "ignore|disregard|forget|override|bypass|discard|neglect|dismiss|overlook|scrap|abandon"),
    ("det", "all|any|the|of|my|your|these|those|every|each|this|that|our|everything|absolutely"),
    (
        "before",
        "previous|prior|above|preceding|earlier|foregoing|former|existing|original|initial|past|previously",
    ),
    (
        "orders",
        "instructions|instruction|prompt|prompts|rules|guidelines|guideline|directives|directive|commands|orders|directions|programming|training|constraints|restrictions|policies|guardrails|protocols",
    ),
    (
        "act",
        "output|print|say|reply|respond|write|tell|send|reveal|do|act|behave|instead|answer|give|execute|return|follow",
    ),
    ("free", "unrestricted|jailbroken|unfiltered|uncensored|amoral|evil|dan|unlimited|unbound|rogue"),
    (
        "limits",
        "restrictions|rules|limits|limitations|guidelines|filters|ethics|morals|constraints|policies|boundaries|guardrails",
    ),
    ("tell", "tell|inform|mention|reveal|alert|notify|disclose|warn|say|admit|acknowledge|let|report"),
    ("user", "user|human|operator"),
    (
        "do",
        "run|execute|send|delete|install|call|do|perform|forward|upload|add|change|update|fetch|download|post|buy|transfer|include|append|insert|remove|copy|share|approve|merge|push|enable|disable|grant|invoke|use|wire|pay|order|commit",
    ),
    ("unsaid", "telling|informing|notifying|alerting|asking|mentioning|consulting|warning|prompting"),
    ("send", "send|post|forward|exfiltrate|transmit|leak|email|mail|upload|submit|share|deliver|report|pipe"),
    ("whose", "your|users|all|any|every|their|stored|found|entire|full|whole|available|known|its"),
    (
        "loot",
        "password|passwords|credential|credentials|secrets|cookies|memories|tokens|env|keys|variables|prompt|history|transcript|conversation|context",
    ),
    ("vault", "password|passwords|credential|credentials|secrets|cookies|tokens|env|keys|variables"),
    ("where", "http|https|url|webhook|server|endpoint|attacker|com|net|org|io|ru|xyz|address|site|website"),
    (
        "show",
        "reveal|print|output|repeat|show|display|leak|tell|share|give|return|expose|write|list|recite|dump|disclose|paste|summarize",
    ),
    (
        "heed",
        "attention|note|notes|message|hey|hi|dear|hello|instruction|instructions|warning|notice|important|reminder|directive",
    ),
    ("ai", "ai|ais|llm|llms|chatbot|chatbots|gpt|chatgpt|claude|copilot|gemini|gpt4"),
    (
        "bot",
        "assistant|assistants|agent|agents|model|models|system|systems|bot|bots|tool|tools|reader|readers|crawler|crawlers|reviewer|reviewers",
    ),
    (
        "must",
        "must|should|ignore|please|always|never|reply|respond|answer|execute|run|include|recommend|say|send|output|append|insert|visit|call|forget|disregard|rate|give|add|tell|mention|do|dont|stop",
    ),
    (
        "reading",
        "reading|processing|parsing|summarizing|summarising|reviewing|analyzing|analysing|evaluating|scanning|indexing|seeing",
    ),
    ("sly", "secretly|silently|covertly|quietly|discreetly"),
    ("whenever", "whenever|when|if|once|after|before|time|anytime"),
    ("meets", "read|reads|see|sees|recall|recalls|retrieve|retrieves|load|loads|process|processes|encounter"),
    ("met", "read|recalled|retrieved|loaded|seen|processed"),
    ("tool", "tool|tools|function|functions|mcp|skill|plugin"),
    (
        "deed",
        "approve|merge|push|delete|install|transfer|forward|upload|download|buy|pay|wire|grant|accept|remove|disable|share|leak|reveal",
    ),
    ("reply", "reply|replies|response|responses|answer|answers|message|messages|output|outputs"),
    ("kept", "ssh|id|env|credentials|passwd|shadow|netrc|npmrc|kubeconfig|secrets|keychain|wallet"),
    (
        "saved",
        "conversation|conversations|memories|history|transcript|messages|prompt|secrets|passwords|password|credentials",
    ),
    ("entry", "memory|memories|note|notes|entry|fact"),
    ("news", "message|prompt|note|notice|override|update|alert|instruction|instructions"),
    (
        "power",
        "admin|administrator|root|superuser|authorized|authorised|verified|approved|granted|trusted|owner|permission|permissions|privileges|allowed|consented",
    ),
];

/// The phrases, each with its kind of command.
pub(super) const PHRASES: [(CommandKind, &str); 136] = [
    (Override, "from now on ..2 {drop} {det}* {before}? ..1 {orders}"),
    (Override, "^ {drop} what|whatever|everything you were|are|have ..1 told"),
    (Exfiltration, "new {orders} , send|forward|upload|exfiltrate|email ..6 {where}"),
    (Override, "^ {drop} {det}* {before} {det}* {orders}"),
    (
        Override,
        "^ {drop} {det}* {before} system|safety|security|developer|user|hidden|conversation|assistant|ai {orders}",
    ),
    (
        Override,
        "^ {drop} {det}* {orders} {before}|given|provided|that|you ..2 before|above|earlier|given|received|were|have|previously",
    ),
    (Override, "^ {drop} all|any|the|of|every* your ..2 {orders}"),
    (
        Override,
        "^ {drop} {det}* system|safety|developer|content|security {orders}|filters|filter|message|messages|checks|measures",
    ),
    (
        Override,
        "^ {drop} everything|anything|all|whatever that? you ..3 told|know|learned|learnt|instructed|taught|given",
    ),
    (
        Override,
        "^ {drop} everything|anything|all {det}* above|before|prior|preceding|text|content ..2 and|then|instead ..2 {act}",
    ),
    (Override, "^ {drop} {det}* {orders} above|before|preceding ..1 and|instead|then"),
    (Override, "^ {drop} every|each|any|all {before} rule"),
    (
        Override,
        "^ {drop} what|whatever ..2 developer|developers|system|creators|creator|openai|anthropic|google|admin ..2 told|said|instructed|wrote",
    ),
    (
        Override,
        "order|command|instruct|want|require|authorize you to {drop} {det}* {before}|system|safety|your? {orders}",
    ),
    (Override, "^ stop|quit|cease following|obeying {det}* {before}? {orders}"),
    (Override, "^ do|must|should|will not follow|obey {det}* {before}|system|safety|your ..1 {orders}"),
    (Override, "^ dont follow|obey {det}* {before}|system|safety|your ..1 {orders}"),
    (
        Override,
        "this|these|following|new|my instructions|instruction|message|prompt|directives|directive|orders override|overrides|supersede|supersedes|replace|replaces|overrule|cancel|cancels all|any|your|every ..2 {orders}",
    ),
    (
        Override,
        "your new|real|actual|true|updated|only instructions|directive|directives|orders|prompt|objective is|are|follow|below",
    ),
    (
        Override,
        "all|your ..1 {before} {orders} are|have|is ..2 void|cancelled|canceled|revoked|suspended|nullified|overridden|lifted|invalid",
    ),
    (
        Override,
        "^ treat|consider {det}* {before} {orders} ..2 void|cancelled|canceled|invalid|obsolete|null|deleted",
    ),
    (
        Override,
        "ignore|ignorez|ignorer|oublie|oubliez toutes|tes|vos|les|ces* instructions|consignes|règles|directives précédentes|antérieures|initiales|ci",
    ),
    (
        Override,
        "ignora|ignore|ignorar|olvida|olvide todas|tus|las|sus|cualquier* instrucciones|órdenes|reglas|indicaciones anteriores|previas|iniciales",
    ),
    (Override, "ignora|ignorate|dimentica tutte|le|tue* istruzioni|regole|direttive precedenti|iniziali"),
    (
        Override,
        "ignore|ignora|esqueça|esquece todas|as|suas* instruções|regras|ordens anteriores|prévias|iniciais",
    ),
    (Override, "negeer|vergeet alle|de|je* vorige|voorgaande|eerdere instructies|opdrachten|regels"),
    (
        Override,
        "игнорируй|игнорируйте|забудь|забудьте все|свои|эти* предыдущие|прежние|ранние инструкции|указания|команды",
    ),
    (Role, "^ you are|re now ..2 {free}"),
    (Role, "^ youre now ..2 {free}"),
    (
        Role,
        "^ you are|re now ..2 developer|debug|god|maintenance|admin|sudo|root mode ..4 no|without|ignore ..2 {limits}",
    ),
    (
        Role,
        "^ youre now ..2 developer|debug|god|maintenance|admin|sudo|root mode ..4 no|without|ignore ..2 {limits}",
    ),
    (
        Role,
        "no longer ..1 bound|restricted|constrained|governed by ..3 {limits}|{orders}|openai|anthropic|google",
    ),
    (Role, "^ act|behave|respond|answer|operate|speak|reply ..2 as ..3 {free}"),
    (Role, "^ act|behave|respond|answer|operate|speak|reply ..2 as ..2 if? you ..2 no {limits}|{orders}"),
    (Role, "^ pretend|imagine|assume ..2 you ..2 no|without ..1 {limits}|{orders}"),
    (Role, "^ pretend|imagine ..2 you are|re ..4 {free}|hacker"),
    (Role, "you are|re ..3 {ai}|{bot} with|without no|any ..1 {limits}|{orders}"),
    (Role, "^ pretend to be ..4 {free}|hacker"),
    (Role, "^ you have|have|are no ethical|moral|content|safety ..1 {limits}|{orders}"),
    (Role, "do anything now"),
    (
        Role,
        "enter|enable|activate|switch|engage|initiate ..3 dan|jailbreak|jailbroken|unrestricted|unfiltered|godmode|uncensored mode",
    ),
    (Role, "{free} mode enabled|activated|engaged|on"),
    (Role, "from now on ..2 you ..2 act|behave|respond|answer|speak|pretend|roleplay as"),
    (Role, "from now on ..1 you are|re ..3 {free}|ai|bot|model|hacker|persona|terminal"),
    (
        Role,
        "^ you ..1 must|will|shall ..2 obey|comply with? my|every|all|any ..2 command|commands|order|orders|request|requests",
    ),
    (Secrecy, "^ do|must|should|shall|will|are not|never ..1 {tell} ..4 the|your|this {user}"),
    (Secrecy, "^ dont|never|mustnt|shouldnt|wont ..1 {tell} ..4 the|your|this {user}"),
    (Secrecy, "^ {do} ..12 without ..1 {unsaid} ..3 {user}"),
    (Secrecy, "keep ..3 secret|hidden|private|confidential|invisible from ..1 {user}"),
    (Secrecy, "^ hide|conceal this|these|that|your|it ..4 from ..1 {user}"),
    (
        Secrecy,
        "the {user} must|should|shall|may|can|cannot|mustnt|shouldnt not|never? ..1 know|learn|suspect|discover|realize|realise|told",
    ),
    (Secrecy, "^ {sly} send|forward|upload|copy|exfiltrate|collect|record|insert|append|transmit|include"),
    (Exfiltration, "^ {send} ..4 {whose} ..3 {loot} ..10 {where}"),
    (
        Exfiltration,
        "^ {send} ..2 api|private|ssh|access|secret|system|chat|conversation keys|key|tokens|prompt|history ..8 {where}",
    ),
    (
        Exfiltration,
        "^ append|include|add|embed|encode|insert|attach ..4 {whose} ..3 {loot} ..8 url|image|link|query|parameter|request",
    ),
    (
        Exfiltration,
        "^ {show} ..4 your ..2 system|initial|hidden|original|secret|internal|full|developer|confidential ..1 prompt|prompts|instructions|instruction|message|rules|guidelines",
    ),
    (
        Exfiltration,
        "^ {show} {det}* system|hidden|developer prompt|message|instructions ..3 verbatim|word|exactly|above",
    ),
    (
        Exfiltration,
        "^ repeat|print|output|copy|recite ..3 words|text|everything|instructions|prompt|sentence above|before",
    ),
    (
        Exfiltration,
        "^ include|append|add|put|attach|insert|embed|reveal|print ..3 {whose} ..2 {loot} in|to|into|with|at ..2 every|each|all|your ..1 {reply}",
    ),
    (
        Exfiltration,
        "from now on ..4 include|append|add|put|attach|insert|embed|reveal|print ..3 {whose} ..2 {loot} in|to|into|with|at ..2 every|each|all|your ..1 {reply}",
    ),
    (Exfiltration, "^ answer|reply|respond ..3 with ..2 contents|content of ..5 {kept}"),
    (Exfiltration, "from now on ..4 answer|reply|respond ..3 with ..2 contents|content of ..5 {kept}"),
    (Exfiltration, "^ {send} ..2 contents|content of ..5 {kept} ..6 http|https|url|webhook|attacker"),
    (Exfiltration, "cat ..3 id rsa|ed25519|ecdsa ..6 curl|wget|nc"),
    (Exfiltration, "curl|wget|nc ..10 cat ..3 id|aws|env|etc rsa|ed25519|ecdsa|credentials|passwd|shadow"),
    (Exfiltration, "cat ..3 env|credentials|passwd|shadow ..4 curl|wget|nc"),
    (Exfiltration, "printenv|env ..3 curl|wget|nc"),
    (Exfiltration, "curl|wget|nc ..6 etc passwd|shadow"),
    (
        Exfiltration,
        "^ read|open|find|collect|gather ..4 {whose}|the|api|env|ssh ..3 {vault}|file ..3 and|then send|post|upload|forward|email|include|exfiltrate",
    ),
    (Address, "{heed} to|for|all|any|the* {ai} {bot}? , ..8 {must}"),
    (Address, "{heed} to|for|all|any|the* language model|models ..8 {must}"),
    (Address, "{heed} to|for|all|any|the* {ai} {bot}? {reading} ..12 {must}"),
    (Address, "if|when you are|re ..1 {ai} {bot}? , ..10 {must}"),
    (Address, "if youre ..1 {ai} {bot}? , ..10 {must}"),
    (Address, "if|when you are|re ..3 language model ..12 {must}"),
    (Address, "if|when you are|re ..1 {ai} {bot}? {reading} ..14 {must}"),
    (Address, "if any|an ..1 {ai} {bot}? is {reading} ..12 {must}"),
    (Address, "{ai} {bot} {reading} this|the ..12 {must}"),
    (Address, "llms|ais|chatbots {reading} this ..12 {must}"),
    (Address, "to|for any|all {ai} {bot}? {reading} this|the"),
    (Address, "any|all {ai} {bot} that reads|read|processes|process|sees|parses this|the ..12 {must}"),
    (
        Address,
        "{whenever} you|assistant|agent|ai {meets} this|it|these ..5 call|invoke|trigger|use|run|execute|open ..6 {tool}",
    ),
    (Address, "{whenever} you recall|retrieve|load this|the {entry} ..2 , ..2 {do}|{must}"),
    (Address, "{whenever} this {entry} is|was|gets {met} ..2 , ..2 {do}|{must}"),
    (FakeTag, "^ system {news}? , the|this|current* {user}|caller is|has|was|may|can ..3 {power}"),
    (FakeTag, "^ system {news}? , grant|reveal|obey|comply|disclose"),
    (
        FakeTag,
        "^ end of the|this|your* user|document|context|data|memory|memories|input|conversation|transcript ..1 , new|begin|now|your ..3 instruction|instructions|prompt|task",
    ),
    (
        Address,
        "{ai} {bot} must|should always|never|only|immediately ..4 {do}|{must}|recommend|mention|{tell}",
    ),
    (
        Override,
        "new|updated|revised system|developer|secret? {orders} , reveal|output|ignore|disregard|forget|execute|approve|obey|pretend|exfiltrate",
    ),
    (
        Override,
        "new|updated|revised system|developer|secret? {orders} , reply|respond|answer ..2 every|only|all|any|each|with",
    ),
    (
        Address,
        "new|updated|revised {orders} for|to the|all|any|this* {ai}|{bot} {bot}? , ..4 {do}|{must}|{act}",
    ),
    (
        Exfiltration,
        "^ append|add|put|encode|embed|insert|attach|include the|this|whole|entire|full|stored|chat|users|all* {saved} base64|encoded* to|into|in|as|onto ..4 url|link|query|parameter|http|https",
    ),
    (
        Exfiltration,
        "^ append|add|put|encode|include the? users name|names|address|email|location|details|data|messages|message ..3 as|to|into|in ..3 query|parameter|parameters|url|link ..4 http|https",
    ),
    (
        Exfiltration,
        "fetch|open|visit|load|request|get|call http|https ..8 followed|plus|with by? everything|all|whatever ..2 you",
    ),
    (
        Address,
        "the|any|every|this assistant|ai|llm|chatbot|model must|shall|should|has now|immediately|first|to|always* run|execute ..2 command|commands|script|scripts|curl|wget|rm|bash|sudo|powershell|tool|payload",
    ),
    (
        Address,
        "the|any|every|this assistant|ai|llm|chatbot|model must|shall now|immediately|first|always* call|invoke|trigger ..4 tool|function",
    ),
    (
        Address,
        "the|any|every|this agent must|shall now|immediately|first|always* call|invoke|trigger ..4 tool",
    ),
    (
        Address,
        "any|every|each assistant|agent|model|llm|ai|chatbot that|who|which reads|sees|processes|loads|retrieves this|it note|text|page|memory|document* must|should|shall",
    ),
    (
        Override,
        "ignoriere|ignorieren|vergiss|vergessen|missachte|verwirf sie|bitte* alle|alles|deine|die|ihre|sämtliche|jegliche|bitte* vorherigen|vorigen|bisherigen|obigen|früheren|vorangegangenen|ursprünglichen|vorherige ..1 anweisungen|anweisung|instruktionen|befehle|regeln|vorgaben",
    ),
    (
        Override,
        "vergiss|vergessen|ignoriere|ignorieren sie|bitte* alles was dir|ihnen ..3 gesagt|aufgetragen|befohlen|beigebracht",
    ),
    (
        Override,
        "neue|neuen anweisungen|anweisung|instruktionen , ..2 sende|schicke|antworte|verrate|lösche|ignoriere|zeige|nenne",
    ),
    (
        Secrecy,
        "sag|sage|sagen|erzähl|erzähle|verrate|verraten|melde sie? dem|den|der nutzer|benutzer|anwender|user|nutzern|nutzerin|benutzern nichts|nicht|kein|nie",
    ),
    (
        Address,
        "achtung|hinweis|wichtig|an für|an|alle* ki assistenten|assistent|agenten|agent|modelle|systeme ..6 müsst|müssen|sollt|sollen",
    ),
    (
        Override,
        "oublie|oubliez|ignore|ignorez tout ce quon|que|qui ta|vous|lon|tont ..2 dit|appris|demandé|ordonné",
    ),
    (
        Override,
        "nouvelles instructions|consignes , ..1 réponds|répondez|envoie|envoyez|affiche|affichez|révèle|révélez|supprime|supprimez|exécute|exécutez|ignore|ignorez|oublie|oubliez",
    ),
    (
        Secrecy,
        "ne dis|dites|révèle|révélez|parle|parlez|mentionne|mentionnez|raconte rien|pas|jamais ..3 lutilisateur|utilisateur|lutilisatrice|utilisatrice",
    ),
    (
        Override,
        "olvida|olvide|olviden|ignora|ignore todo lo que te|le|les ..2 dijeron|dicho|dijo|enseñaron|ordenaron",
    ),
    (
        Override,
        "nuevas instrucciones|órdenes , ..1 envía|envíe|responde|responda|revela|revele|muestra|muestre|borra|ejecuta|ignora|olvida",
    ),
    (
        Secrecy,
        "no le|les|lo|se* digas|diga|cuentes|cuente|menciones|mencione|reveles|revele ..2 usuario|usuaria|usuarios",
    ),
    (
        Override,
        "esqueça|esquece|ignore|ignora tudo o? que foi|te|lhe|lhes|vos ..2 dito|disseram|ensinado|ensinaram|ordenado",
    ),
    (Override, "novas instruções|ordens , ..1 envie|responda|revele|mostre|apague|execute|ignore|esqueça"),
    (Secrecy, "não|nunca conte|conta|diga|diz|revele|mencione ..2 usuário|utilizador|usuária|usuários"),
    (
        Override,
        "dimentica|dimenticate|ignora|ignorate tutto quello|ciò che ti|vi ..2 stato|hanno|detto detto|insegnato|ordinato?",
    ),
    (
        Override,
        "nuove istruzioni , ..1 invia|inviate|rispondi|rispondete|rivela|mostra|cancella|esegui|ignora|dimentica",
    ),
    (Secrecy, "non dire|dite|rivelare|menzionare|raccontare ..2 allutente|utente|utenti"),
    (Override, "negeer|vergeet alles wat je|jou ..2 verteld|gezegd|geleerd|opgedragen"),
    (Secrecy, "vertel|zeg|meld|onthul aan|de|het* gebruiker|gebruikers niets|niet|nooit"),
    (
        Override,
        "zignoruj|ignoruj|zapomnij|pomiń|zignorujcie wszystkie|swoje|te|o|wszystkich* poprzednie|wcześniejsze|dotychczasowe|poprzednich|wcześniejszych instrukcje|polecenia|zasady|instrukcjach|poleceniach",
    ),
    (Secrecy, "nie mów|mówcie|informuj|wspominaj|zdradzaj ..2 użytkownikowi|użytkownika|użytkownikom"),
    (
        Override,
        "забудь|забудьте|игнорируй|игнорируйте все|всё что тебе|вам ..2 говорили|сказали|сказано|велели",
    ),
    (
        Secrecy,
        "не говори|говорите|сообщай|сообщайте|рассказывай|рассказывайте|упоминай ..1 пользователю|пользователям",
    ),
    (
        Override,
        "новые инструкции|указания , ..1 отправь|ответь|отвечай|покажи|удали|выполни|игнорируй|забудь",
    ),
    (
        Override,
        "ігноруй|ігноруйте|забудь|забудьте|проігноруй усі|всі|свої|про|ці* попередні|минулі|ранні інструкції|вказівки|команди",
    ),
    (Secrecy, "не кажи|кажіть|говори|повідомляй|розповідай ..1 користувачу|користувачеві|користувачам"),
    (
        Override,
        "önceki|yukarıdaki|tüm|bütün önceki|tüm|bütün|verilen* talimatları|talimatlarını|komutları|kuralları|yönergeleri|emirleri yok|göz|görmezden|dikkate ardı? say|sayın|et|edin|gel|gelin|alma|almayın",
    ),
    (
        Override,
        "önceki|yukarıdaki|tüm|bütün önceki|tüm|bütün|verilen* talimatları|talimatlarını|komutları|kuralları|yönergeleri|emirleri unut|unutun",
    ),
    (
        Secrecy,
        "kullanıcıya|kullanıcılara ..2 bahsetme|bahsetmeyin|söyleme|söylemeyin|anlatma|anlatmayın|bildirme",
    ),
    (Override, "bỏ|phớt|hãy qua|lờ|quên tất|cả|các|mọi|những* hướng|chỉ|lệnh|quy dẫn|thị|tắc? trước"),
    (Secrecy, "đừng nói|kể|tiết ..2 người dùng"),
    (
        Override,
        "abaikan|lupakan semua|seluruh|segala* instruksi|perintah|aturan|petunjuk|arahan sebelumnya|terdahulu",
    ),
    (Secrecy, "jangan beritahu|beri|katakan|ceritakan ..2 pengguna"),
    (
        Override,
        "ignorera|ignorer|glöm|glem alla|alle|dina|de* tidigare|föregående|forrige|tidligere|foregående instruktioner|instruksjoner|instrukser|regler|anvisningar|anvisninger",
    ),
    (Secrecy, "berätta|säg|fortell|fortæl|sig inte|ikke|aldrig ..3 användaren|brukeren|brugeren"),
    (
        Override,
        "ignoruj|ignorujte|zapomeň|zapomeňte všechny|své|na* předchozí|dosavadní|dřívější pokyny|instrukce|příkazy",
    ),
    (Override, "ignoră|ignorați|uită|uitați toate* instrucțiunile|regulile|comenzile anterioare|precedente"),
    (
        Override,
        "αγνόησε|αγνοήστε|ξέχνα|ξεχάστε όλες|τις|τους|όλους* προηγούμενες|προηγούμενους οδηγίες|εντολές|κανόνες",
    ),
];

/// Words that may come between the beginning of a clause and the verb of an order.
pub(super) const LEAD: &str = "please|now|you|must|should|will|shall|are|need|have|to|also|then|just|simply|immediately|first|instead|kindly|i|want|your|task|is|important|attention|assistant|ai|model|system|hey|hi|hello|ok|okay|dear|so|but|next|hereby|therefore|always|completely|entirely|totally|would|like|job|goal|ll|youll|can|may|henceforth|chatgpt|claude|agent|new|instruction|instructions|re|let|us|lets|its|it|time|urgent|note|step|1|2|3";
/// Words that turn `to` and a verb into an order.
pub(super) const BEFORE_TO: &str = "need|have|want|task|is|are|like|job|goal|time|instruction|instructions";
/// Words that join an order to the clause before it.
pub(super) const JOINS: &str = "and|then|but|so|or";
/// Words that indicate a narrative, mostly its subjects.
pub(super) const TALE: &str = "we|they|he|she|it|i|who|which|that|team|users|people|customers|attackers|attacker|models|someone|developers|students|was|were|had";
/// Words that show that a nearby quote belongs to a report about attacks and is not an attack.
pub(super) const TOLD: &str = "injection|injections|jailbreak|jailbreaks|jailbreaking|attacker|attackers|attack|attacks|adversarial|malicious|owasp|phishing|payload|payloads|detector|detects|detect|detection|exploit|classifier|sanitize|sanitizer|guardrail|redteam|linjection|injektion|angriff|angriffe|attaque|attaques|lattaque|ataque|ataques|attacco|attacchi|aanval|atak|ataki|атака|атаки|атак|saldırı|saldırısı";
/// Words after a tag that address the reader.
pub(super) const ADDRESSED: &str = "you|your|youre|ignore|must|disregard|instruction|instructions|override|dont|reveal|obey|comply|approved|bypass";
/// Words that begin an order after `System:`.
pub(super) const ORDERED: &str = "you|youre|your|ignore|disregard|forget|override";
/// Words that call for attention.
pub(super) const CALLS: &str = "attention|notice|warning|alert";
/// Words after a call for attention that address the reader.
pub(super) const CALLED: &str = "you|your|youre|must|stop|ignore|reveal|obey";
/// Words after a heading of new instructions. They show that the instructions are for a model.
pub(super) const AFTER_HEADING: &str = "reply|respond|answer|summarise|summarize|reveal|ignore|disregard|forget|delete|execute|obey|assistant|ai|password|secrets";
/// Words that give an order in a message that states its role.
pub(super) const ROLE_ORDERS: &str = "reveal|disregard|ignore|obey|comply|bypass|override|forget|exfiltrate|unrestricted|verified|jailbroken|secrets|credentials";
/// Words in a fake answer that reveal secrets.
pub(super) const ROLE_LOOT: &str = "password|passwords|secrets|credentials|keys";
/// Words for the addressee of a comment.
pub(super) const READERS: &str = "assistant|assistants|agent|agents|bot|bots";
