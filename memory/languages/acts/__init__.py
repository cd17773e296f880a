"""What a sentence does: who is spoken of, what is denied, ended, asked, supposed or read aloud.

`read` gives each word of a text the clause it stands in, and each clause what is true of it.
The words and patterns of a language stand in `memory/languages/<language>/acts.toml`; patterns
run over words that stand apart, one space between them.
"""

from memory.languages.acts.reading import people_before as people_before
from memory.languages.acts.reading import read as read
from memory.languages.acts.reading import resolved as resolved
from memory.languages.acts.records import JARVIS as JARVIS
from memory.languages.acts.records import LIKING as LIKING
from memory.languages.acts.records import THIRD as THIRD
from memory.languages.acts.records import USER as USER
from memory.languages.acts.records import Clause as Clause
from memory.languages.acts.records import Reading as Reading
from memory.languages.acts.table import Acts as Acts
from memory.languages.acts.table import acts_of as acts_of
from memory.languages.acts.table import does as does
from memory.languages.acts.table import joined as joined
from memory.languages.acts.table import languages as languages
from memory.languages.acts.table import orders as orders
