# Prints the ```cpp blocks of a guide, in their order, as one source. Lines keep their numbers, so that compiler messages name
# the lines of the guide:   awk -f snippets.awk guide.md > guide.cpp
FNR == 1 { printf "#line 1 \"%s\"\n", FILENAME }
/^```cpp$/ { shown = 1; print ""; next }
/^```$/ { shown = 0 }
{ print shown ? $0 : "" }
